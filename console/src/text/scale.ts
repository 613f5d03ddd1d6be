/** Halves of these are round too, because the middle of a chart has a label as well. */
const STEPS = [1, 2, 4, 6, 8, 10]

/** The smallest round number that is not less than a value, for the top of a chart. */
export function roundUp (value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const step = STEPS.find((one) => one * power >= value) ?? 10
  return step * power
}

/** The lines of a chart: through neighbouring values, and over the places between them that have none. */
export interface LinePaths { line: string, bridges: string }

/** @param values null: none */
export function linePaths (
  values: ReadonlyArray<number | null>, width: number, height: number, top: number,
): LinePaths {
  const step = values.length > 1 ? width / (values.length - 1) : 0
  let line = ''
  let bridges = ''
  let last: { index: number, point: string } | undefined
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const point = `${(index * step).toFixed(1)} ${(height - Math.min(value, top) / top * height).toFixed(1)}`
    if (last?.index === index - 1) line += `L${point}`
    else {
      if (last !== undefined) bridges += `M${last.point}L${point}`
      line += `M${point}`
    }
    last = { index, point }
  }
  return { line, bridges }
}
