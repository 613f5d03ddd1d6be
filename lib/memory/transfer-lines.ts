import { isUtf8 } from 'node:buffer'
import { invalidField, ServiceError } from '../errors/service-error.js'
import type { ContentChecks } from '../policy/bank.js'
import type { Memory } from '../stores/vector-store.js'
import { parseSafely } from '../validation/json-body.js'
import { checkJsonText, type JsonBounds } from '../validation/json-body.js'
import { giveWay, isDue } from '../concurrency/event-loop.js'
import { toRecord } from './records.js'

const LINE_FEED = 10
/** Maximum bytes of a character: an escaped surrogate pair, `\ud83d\ude00`. */
const BYTES_PER_CHARACTER = 12
/** A generous bound on the rest of a line: a hundred tags, ids, instants, and the configuration in a header. */
const LINE_OVERHEAD_BYTES = 524_288

interface ImportLine {
  /** From 1. */
  number: number
  bytes: Buffer
}

/**
 * Checks the number of lines before any line is parsed.
 * @throws ServiceError body_too_large
 */
export function requireFewLines (bytes: Buffer, maxLines: number): void {
  let lines = 0
  for (let at = 0; at < bytes.length; lines++) {
    if (lines === maxLines) {
      throw new ServiceError('body_too_large', `The import has more than ${maxLines} lines (bounds.import_lines)`)
    }
    at = endOfLine(bytes, at) + 1
  }
}

/** The lines without line feeds, including blank lines. */
export function * linesOf (bytes: Buffer): Generator<ImportLine> {
  for (let at = 0, number = 1; at < bytes.length; number++) {
    const end = endOfLine(bytes, at)
    yield { number, bytes: bytes.subarray(at, end) }
    at = end + 1
  }
}

function endOfLine (bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_FEED, from)
  return end === -1 ? bytes.length : end
}

/** Maximum bytes of a line: a longer one cannot contain a memory that the bank accepts. */
export function maxLineBytes ({ maxCharacters, maxMetadataBytes }: ContentChecks): number {
  return LINE_OVERHEAD_BYTES + BYTES_PER_CHARACTER * (maxCharacters + maxMetadataBytes)
}

/**
 * Parses one line, in time linear in its length.
 * @param maxBytes `maxLineBytes`
 * @returns undefined for a blank line
 * @throws ServiceError invalid_request or body_too_large, which name the line
 */
export function parseLine ({ number, bytes }: ImportLine, maxBytes: number, bounds: JsonBounds): unknown {
  if (bytes.length > maxBytes) {
    throw new ServiceError(
      'body_too_large', `Line ${number} is longer than ${maxBytes} bytes, more than a memory of this bank can take`,
    )
  }
  if (!isUtf8(bytes)) throw invalidField(`line ${number}`, 'is not valid UTF-8')
  checkJsonText(bytes, bounds, `Line ${number}`)
  const text = bytes.toString().trim()
  return text === '' ? undefined : parseSafely(text, (fault) => invalidField(`line ${number}`, fault))
}

/** The lines of an export, with line feeds: the header, followed by a line for each memory. */
export async function * exportLines (
  bankId: string, header: object, memories: AsyncIterable<Memory>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  for await (const memory of memories) {
    if (isDue()) await giveWay()
    yield `${JSON.stringify(toRecord(bankId, memory))}\n`
  }
}
