import { messageOf } from '../../lib/base/message-of.js'
import { beginningOf } from '../../lib/base/shorten.js'
import { CommandError, usageError } from '../failures.js'
import { TextParts, type ImportContent, type ImportItem } from '../import-lines.js'
import { fromChatGpt } from './chatgpt.js'
import { fromClaude } from './claude.js'
import { fromHindsight } from './hindsight.js'
import { fromLangGraph } from './langgraph.js'
import { fromMem0 } from './mem0.js'
import { isTooDeep, UnknownShape, type FoundMemory } from './shape.js'

const READERS: ReadonlyMap<string, (document: unknown) => Iterable<FoundMemory>> = new Map([
  ['hindsight', fromHindsight], ['mem0', fromMem0], ['langgraph', fromLangGraph], ['claude', fromClaude],
  ['chatgpt', fromChatGpt],
])
/** Maximum characters of a memory unless the bank is configured otherwise. */
const MAX_CHARACTERS = 50_000
/** Texts without so many digits in a row need no closer look. */
const MANY_DIGITS = /\d{16}/
const LONG_INTEGER = /^-?[1-9]\d{15,}$/
/**
 * A number with a colon after it is a name, which must stay invalid. A string without an end goes to the end of the
 * text, because otherwise the search for the end begins again at each quotation mark in it.
 */
const STRING_OR_NUMBER = new RegExp([
  String.raw`"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)`,
  String.raw`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*:)?`,
].join('|'), 'g')
const HEADER = { json: JSON.stringify({ format: 'memory-gateway-export', version: 1 }), place: 'the header' }

/**
 * The memories of another product's export. The whole export is read before the first memory is stored, so that nothing
 * is stored from one of unknown format.
 * @param name of the file, for messages
 * @throws CommandError that names the place where the format is not the known one
 */
export async function foreignItems (from: string, lines: AsyncIterable<string>, name: string): Promise<ImportContent> {
  const reader = READERS.get(from)
  if (reader === undefined) {
    throw usageError(`an import from ${from} is not supported; supported are ${[...READERS.keys()].join(', ')}`)
  }
  const items: ImportItem[] = []
  let withoutText = 0
  try {
    for (const found of reader(await readDocument(lines, name))) {
      const parts = splitLongText(found)
      items.push(...parts)
      if (parts.length === 0) withoutText++
    }
  } catch (error) {
    throw error instanceof UnknownShape
      ? new CommandError(`${name} is not an export of ${from} in a known form: ${error.message}`)
      : error
  }
  return { header: HEADER, items: each(items), withoutText }
}

/** Which option imports this document, by the first product whose format it has. */
export async function adviceOnProduct (lines: AsyncIterable<string>): Promise<string> {
  const others = 'for an export of another product, name the product with --from: ' + [...READERS.keys()].join(', ')
  let document: unknown
  try {
    document = await readDocument(lines, '')
  } catch (error) {
    if (error instanceof CommandError) return others
    throw error
  }
  const product = [...READERS].find(([, reader]) => hasMemory(reader, document))?.[0]
  return product === undefined ? others : `it looks like an export of ${product}: use --from ${product}`
}

function hasMemory (reader: (document: unknown) => Iterable<FoundMemory>, document: unknown): boolean {
  try {
    const [first] = reader(document)
    return first !== undefined
  } catch (error) {
    if (error instanceof UnknownShape) return false
    throw error
  }
}

async function readDocument (lines: AsyncIterable<string>, name: string): Promise<unknown> {
  const parts = new TextParts()
  for await (const line of lines) {
    if (parts.isEmpty && line.startsWith('PK\u0003')) {
      throw new CommandError(`${name} is an archive: unpack it and import the conversations.json in it`)
    }
    parts.add(line)
  }
  const document = parsed(parts.take('\n'), name)
  if (isTooDeep(document)) throw new CommandError(`${name} is nested too deeply: no known export is`)
  return document
}

function parsed (text: string, name: string): unknown {
  try {
    return JSON.parse(withExactIntegers(text))
  } catch (error) {
    throw new CommandError(`${name} is not JSON: ${messageOf(error)}`)
  }
}

/** Integers that JSON.parse would round become texts with the same digits. */
function withExactIntegers (json: string): string {
  if (!MANY_DIGITS.test(json)) return json
  return json.replace(STRING_OR_NUMBER, (token) => (
    LONG_INTEGER.test(token) && String(Number(token)) !== token ? `"${token}"` : token
  ))
}

/** A text that is too long for one memory becomes several, cut at line ends if possible. */
function splitLongText ({ place, text, metadata = {}, ...rest }: FoundMemory): ImportItem[] {
  const texts = cut(text.trim())
  return texts.map((part, index) => {
    const number = texts.length > 1 && { part: index + 1, parts: texts.length }
    return { place, json: JSON.stringify({ ...rest, text: part, metadata: { ...metadata, ...number } }) }
  })
}

function cut (text: string): string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > MAX_CHARACTERS) {
    const line = rest.lastIndexOf('\n', MAX_CHARACTERS)
    const part = line > MAX_CHARACTERS / 2 ? rest.slice(0, line) : beginningOf(rest, MAX_CHARACTERS)
    parts.push(part.trim())
    rest = rest.slice(part.length).trim()
  }
  return [...parts, rest].filter((part) => part !== '')
}

async function * each (items: readonly ImportItem[]): AsyncGenerator<ImportItem, void> {
  yield * items
}
