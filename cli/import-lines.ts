import { constants } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isJsonObject, parsedJson } from '../lib/base/json-object.js'
import { codeOf, CommandError, usageError } from './failures.js'

/** The size of one request, below the default bounds of a gateway: 10 MiB and 50,000 lines. */
const MAX_BATCH_CHARACTERS = 2 * 1024 * 1024
const MAX_BATCH_MEMORIES = 5000
const FORMAT = 'memory-gateway-export'

/** One memory of an import as JSON, and its place in the source. */
export interface ImportItem {
  json: string
  place: string
}

/** An import: the header of an export, and memories. */
export interface ImportContent {
  header: ImportItem
  items: AsyncIterable<ImportItem>
  /** Entries of the source that are no memory, because they have no text. */
  withoutText: number
}

/** One request: a header, then memories. */
export type ImportBatch = readonly ImportItem[]

/** The most memories of the next requests; lowered when the server refuses a request as too large. */
export class BatchSize {
  #memories = MAX_BATCH_MEMORIES

  get memories (): number {
    return this.#memories
  }

  /** Half of a batch that was refused. */
  lower (refused: ImportBatch): void {
    this.#memories = Math.min(this.#memories, Math.ceil((refused.length - 1) / 2))
  }
}

/** Cuts an import into requests, each with the header. There is one even without memories. */
export async function * importLines (
  { header, items }: ImportContent, size: BatchSize,
): AsyncGenerator<ImportBatch, void> {
  let lines = [header]
  let characters = 0
  for await (const item of items) {
    const isFull = characters + item.json.length > MAX_BATCH_CHARACTERS || lines.length > size.memories
    if (lines.length > 1 && isFull && !isEarlierVersion(item)) {
      yield lines
      lines = [header]
      characters = 0
    }
    lines.push(item)
    characters += item.json.length
  }
  yield lines
}

/** Whether a line is a version that belongs to the memory before it, so that no request begins with it. */
export function isEarlierVersion ({ json }: ImportItem): boolean {
  if (!json.includes('"ended_at"')) return false
  const line = parsedJson(json)
  return isJsonObject(line) && typeof line['ended_at'] === 'string'
}

/** The source of an import. */
interface Input {
  /** The name for messages. */
  name: string
  lines: AsyncIterable<string>
  /** Size in bytes; undefined for a pipe. */
  total: number | undefined
  /** Bytes read so far. */
  position (): number
  close (): void
}

/** @param path undefined or `-` for standard input. @throws CommandError when it cannot be read */
export async function openInput (path: string | undefined): Promise<Input> {
  if (path === undefined || path === '-') {
    if (process.stdin.isTTY) throw usageError('there is nothing to import: name a file, or send it to standard input')
    const { stdin } = process
    return {
      name: 'standard input',
      lines: linesOf(stdin),
      total: undefined,
      position: () => 0,
      close: () => { stdin.destroy() },
    }
  }
  const unreadable = (error: unknown) => new CommandError(`${path} cannot be read (${codeOf(error) ?? 'unknown'})`)
  const { size } = await stat(path).catch((error: unknown) => { throw unreadable(error) })
  const file = createReadStream(path)
  const lines = linesOf(file, unreadable)
  return { name: path, lines, total: size, position: () => file.bytesRead, close: () => { file.destroy() } }
}

/**
 * The header and the memories of an export of the gateway.
 * @param adviceFor for a file that does not begin with such a header: what to do with these lines
 * @throws CommandError for such a file
 */
export async function exportItems (
  lines: AsyncIterable<string>, name: string, adviceFor: (lines: AsyncIterable<string>) => Promise<string>,
): Promise<ImportContent> {
  const items = numbered(lines)
  const first = await items.next()
  if (first.done === true) throw new CommandError(`${name} is empty`)
  const header = first.value
  if (!isHeader(header.json)) {
    const found = `${name}: ${header.place} is not the header of an export ({"format":"${FORMAT}",…})`
    throw new CommandError(`${found}; ${await adviceFor(withFirst(header, items))}`)
  }
  return { header, items, withoutText: 0 }
}

async function * withFirst (
  first: ImportItem, rest: AsyncIterable<ImportItem>,
): AsyncGenerator<string, void> {
  yield first.json
  for await (const { json } of rest) yield json
}

/** The lines that are not blank, with their numbers. */
async function * numbered (lines: AsyncIterable<string>): AsyncGenerator<ImportItem, void> {
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() !== '') yield { json: line, place: `line ${number}` }
  }
}

function isHeader (json: string): boolean {
  const header = parsedJson(json)
  return isJsonObject(header) && header['format'] === FORMAT
}

/** Collects the parts of a text, up to the longest string that JavaScript allows. */
export class TextParts {
  #parts: string[] = []
  #length = 0

  /** @throws CommandError */
  add (part: string): void {
    this.#length += part.length + 1
    if (this.#length > constants.MAX_STRING_LENGTH) {
      throw new CommandError(`the import has a line or document of more than ${constants.MAX_STRING_LENGTH} ` +
        'characters; split it')
    }
    this.#parts.push(part)
  }

  take (separator = ''): string {
    const text = this.#parts.join(separator)
    this.#parts = []
    this.#length = 0
    return text
  }

  get isEmpty (): boolean {
    return this.#parts.length === 0
  }
}

/** The lines without their line feeds. */
async function * linesOf (
  stream: NodeJS.ReadableStream, fault: (error: unknown) => unknown = (error) => error,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parts = new TextParts()
  try {
    for await (const chunk of stream) {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      const [first = '', ...rest] = text.split('\n')
      parts.add(first)
      for (const line of rest) {
        yield parts.take()
        parts.add(line)
      }
    }
    // An incomplete character at the end is an error here.
    parts.add(decoder.decode())
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw error instanceof TypeError ? new CommandError('the import is not valid UTF-8') : fault(error)
  }
  const last = parts.take()
  if (last !== '') yield last
}
