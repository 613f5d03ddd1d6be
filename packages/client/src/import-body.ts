import { untilAborted } from './timing.js'
import type { ImportPiece, ImportSource } from './types.js'

/** What a body is made of. */
type Part = string | Uint8Array<ArrayBuffer>

/**
 * All pieces as one body, which can be sent again. The gateway takes an import as a whole, and browsers cannot send
 * what is still being made.
 */
export async function importBody (lines: ImportSource, signal: AbortSignal | undefined): Promise<Blob> {
  if (lines instanceof Blob) return lines
  // A text is iterable too, by its characters.
  if (typeof lines === 'string' || lines instanceof Uint8Array) return new Blob([partOf(lines)])
  // What comes without types, from JavaScript, may be anything.
  if (typeof lines !== 'object' || lines === null) throw new TypeError('lines must be a text, bytes or an iterable of them')
  const parts: Part[] = []
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]()
  try {
    for (;;) {
      const result = await untilAborted(iterator.next(), signal)
      if (result.done === true) return new Blob(parts)
      parts.push(partOf(result.value))
    }
  } catch (error) {
    // A source that hangs is not waited for.
    void Promise.resolve(iterator.return?.()).catch(() => {})
    throw error
  }
}

function partOf (piece: ImportPiece): Part {
  // A copy: who reads a file in pieces may use the same memory for the next one.
  if (piece instanceof Uint8Array) return piece.slice()
  const line = typeof piece === 'string' ? piece : JSON.stringify(piece)
  return line.endsWith('\n') ? line : `${line}\n`
}
