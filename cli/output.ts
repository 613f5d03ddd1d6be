import { once } from 'node:events'
import { codeOf, CommandError, EXIT } from './failures.js'

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

/** Writes a line for people. Whatever is in it may come from a server, so it is made printable. */
export async function writeLine (text: string): Promise<void> {
  await write(`${printable(text)}\n`)
}

/** Characters that could control the terminal are written as escapes, which does not change the value. */
export async function writeJson (value: unknown): Promise<void> {
  const escaped = jsonOf(value).replaceAll(UNPRINTABLE, (found) => (
    `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  ))
  await write(`${escaped}\n`)
}

function jsonOf (value: unknown): string {
  try {
    return JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError('the answer is nested too deeply to be written')
    throw error
  }
}

/** Writes a message to standard error, because standard output is for results only. */
export function note (text: string): void {
  process.stderr.write(`${printable(text)}\n`)
}

/** Control characters except the line feed and the tab, and those that change the direction of text. */
// eslint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Replaces the characters of a text that could control the terminal. */
export function printable (text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, '\ufffd')
}

/** Lines of columns, each as wide as its longest cell. */
export function columns (rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = rows.reduce<number[]>((found, row) => (
    row.map((cell, index) => Math.max(found[index] ?? 0, cell.length))
  ), [])
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd())
}
