import { untilAborted } from './timing.js'
import type { ImportPiece, ImportSource } from './types.js'

/** A part of a body. */
type Part = string | Uint8Array<ArrayBuffer>

/**
 * Collects all pieces in one body, which can be sent again. The gateway accepts an import only as a whole, and not
 * every browser can stream a request body.
 */
export async function importBody (lines: ImportSource, signal: AbortSignal | undefined): Promise<Blob> {
  if (lines instanceof Blob) return lines
  // A string is also iterable, but by its characters.
  if (typeof lines === 'string' || lines instanceof Uint8Array) return new Blob([partOf(lines)])
  // Callers in JavaScript may pass anything.
  if (typeof lines !== 'object' || lines === null) {
    throw new TypeError('lines must be a string, bytes or an iterable of them')
  }
  const parts: Part[] = []
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]()
  try {
    for (;;) {
      const result = await untilAborted(iterator.next(), signal)
      if (result.done === true) return new Blob(parts)
      parts.push(partOf(result.value))
    }
  } catch (error) {
    // Not awaited, because the source may hang.
    void Promise.resolve(iterator.return?.()).catch(() => {})
    throw error
  }
}

function partOf (piece: ImportPiece): Part {
  // A copy, because a source that reads a file in pieces may reuse its buffer for the next one.
  if (piece instanceof Uint8Array) return piece.slice()
  const line = typeof piece === 'string' ? piece : JSON.stringify(piece)
  return line.endsWith('\n') ? line : `${line}\n`
}
