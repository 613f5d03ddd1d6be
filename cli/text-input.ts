import { createReadStream } from 'node:fs'
import { codeOf, CommandError, usageError } from './failures.js'

/** More than any gateway accepts; without a limit, an endless input would fill the memory of the process. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024

/**
 * Reads a text.
 * @param path undefined or `-` for standard input
 * @param missing what to say on a terminal, where nobody sends any
 */
export async function readText (path: string | undefined, missing: string): Promise<{ name: string, text: string }> {
  const isStandard = path === undefined || path === '-'
  if (isStandard && process.stdin.isTTY) throw usageError(missing)
  const name = isStandard ? 'standard input' : path
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of isStandard ? process.stdin : createReadStream(path)) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_INPUT_BYTES) throw new CommandError(`${name} is too long (more than 64 MiB)`)
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${name} cannot be read (${codeOf(error) ?? 'unknown'})`)
  }
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) }
  } catch {
    throw new CommandError(`${name} is not valid UTF-8; convert it first, for example with iconv`)
  }
}
