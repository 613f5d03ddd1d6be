/**
 * Rows as an aligned text table; the first row is the header.
 * @param rows cells as printed; the first column is aligned left, the others right
 */
export function formatTable (rows: ReadonlyArray<readonly string[]>): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, column) => { widths[column] = Math.max(widths[column] ?? 0, cell.length) })
  }
  const line = (row: readonly string[]) => row
    .map((cell, column) => column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))
    .join('  ')
    .trimEnd()
  const [head, ...body] = rows
  if (head === undefined) return ''
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(line)].join('\n')
}
