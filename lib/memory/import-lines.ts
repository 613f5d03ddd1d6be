import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import type { BankSections } from '../config/defaults.js'
import { invalidField, ServiceError } from '../errors.js'
import { turns } from '../turn-budget.js'

const LINE_FEED = 10
const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
/** An escaped character of two UTF-16 units, `\ud83d\ude00`. */
const BYTES_A_CHARACTER = 12
/** What a line has beside text and metadata, generously: a hundred tags, ids, instants, and the configuration in a header. */
const OTHER_BYTES = 524_288
/** More than any memory, or any configuration in a header, has room for. */
const MAX_VALUES = 20_000

export interface ImportLine {
  /** As an editor counts, from 1. */
  number: number
  bytes: Buffer
}

/** @throws ServiceError body_too_large; no line has been looked at then */
export async function requireFewLines (bytes: Buffer, most: number, caller: string): Promise<void> {
  let lines = 0
  for (let at = 0; at < bytes.length; lines++) {
    if (lines === most) throw new ServiceError('body_too_large', `The import has more than ${most} lines (bounds.import_lines)`)
    if (turns.isSpent) await turns.next(caller)
    at = endOfLine(bytes, at) + 1
  }
}

/** The lines without their line feeds, blank ones too. */
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

/** Bytes that a line may have: whatever is longer holds no memory that the bank takes. */
export function longestLine ({ barriers }: BankSections): number {
  return OTHER_BYTES + BYTES_A_CHARACTER * (barriers.validation.max_content_length + barriers.metadata.max_metadata_size_bytes)
}

/**
 * Reads the JSON of one line, in time by its length.
 * @param maxBytes `longestLine`
 * @param maxDepth `bounds.json_depth`
 * @returns undefined for a blank line
 * @throws ServiceError invalid_request or body_too_large, which name the line
 */
export function parseLine ({ number, bytes }: ImportLine, maxBytes: number, maxDepth: number): unknown {
  if (bytes.length > maxBytes) throw new ServiceError('body_too_large', `Line ${number} is longer than ${maxBytes} bytes, more than a memory of this bank can take`)
  if (!isUtf8(bytes)) throw invalidField(`line ${number}`, 'is not valid UTF-8')
  const { depth, values } = measure(bytes)
  if (depth > maxDepth) throw new ServiceError('body_too_large', `Line ${number} is nested deeper than ${maxDepth} levels (bounds.json_depth)`)
  if (values > MAX_VALUES) throw invalidField(`line ${number}`, `has more than ${MAX_VALUES} values, more than a memory can have`)
  const text = bytes.toString('utf8').trim()
  if (text === '') return undefined
  try {
    return secureJson.parse(text)
  } catch {
    throw invalidField(`line ${number}`, 'is not valid JSON')
  }
}

/** What a parser would have to do with a text, whether or not it is JSON: its deepest nesting, and how many values it has about. */
function measure (bytes: Buffer): { depth: number, values: number } {
  let open = 0
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === COMMA) values++
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth = Math.max(depth, ++open)
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) open--
  }
  return { depth, values }
}

/** @param from where its opening quotation mark is @returns where its closing one is */
function endOfText (bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return bytes.length
}
