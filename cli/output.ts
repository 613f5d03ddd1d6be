import { once } from 'node:events'
import { codeOf, EXIT } from './failures.js'

/**
 * The reader of the output may stop before its end (`| head`). That is not an error, and the command ends silently.
 * When nobody reads the messages, the work goes on without them. Any other error of the output, such as a full disk, is
 * reported.
 */
export function endOnFaultOfOutput (): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const isClosed = codeOf(error) === 'EPIPE'
      if (isClosed && stream === process.stderr) return
      if (isClosed) process.exit(EXIT.done)
      if (stream === process.stdout) note(`standard output cannot be written (${codeOf(error) ?? 'unknown'})`)
      process.exit(EXIT.failed)
    })
  }
}

/** Writes to standard output as fast as it is read. */
export async function write (text: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export async function writeLine (text: string): Promise<void> {
  await write(`${text}\n`)
}

export async function writeJson (value: unknown): Promise<void> {
  await writeLine(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined))
}

/** Writes a message to standard error, because standard output is for results only. */
export function note (text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Replaces control characters of stored texts, which could control the terminal. Line feeds and tabs stay. */
export function printable (text: string): string {
  return text.replaceAll('\r\n', '\n')
    // eslint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** Lines of columns, each as wide as its longest cell. */
export function columns (rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = rows.reduce<number[]>((found, row) => (
    row.map((cell, index) => Math.max(found[index] ?? 0, cell.length))
  ), [])
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd())
}
