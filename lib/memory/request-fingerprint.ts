import { createHash, type Hash } from 'node:crypto'
import stringify from 'safe-stable-stringify'
import { giveWay, isDue } from '../concurrency/event-loop.js'
import { isHighSurrogate } from '../validation/code-points.js'

/** Maximum bytes or characters that are hashed at a time. */
const CHUNK_SIZE = 256 * 1024
const LINE_FEED = 10

/**
 * SHA-256 of `stringify([query, body])` in hexadecimal. Idempotency records keep it across restarts and releases, so
 * its input must not change. It is computed in time slices, and never builds the whole text of a large body.
 * @param body a JSON value; for an import its text, or its bytes in UTF-8
 */
export async function requestFingerprint (query: unknown, body: unknown): Promise<string> {
  const hash = createHash('sha256').update(`[${textOf(query)},`)
  if (typeof body === 'string') await updateInChunks(hash, stringChunks(body))
  else if (Buffer.isBuffer(body)) await updateInChunks(hash, bufferChunks(body))
  else await updateWithJson(hash, body)
  return hash.update(']').digest('hex')
}

async function updateInChunks (hash: Hash, chunks: Iterable<string>): Promise<void> {
  hash.update('"')
  for (const chunk of chunks) {
    if (isDue()) await giveWay()
    hash.update(JSON.stringify(chunk).slice(1, -1))
  }
  hash.update('"')
}

/** No chunk ends within a surrogate pair, because JSON.stringify escapes a lone surrogate. */
function * stringChunks (text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + CHUNK_SIZE)
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1
    yield text.slice(start, end)
    start = end
  }
}

/** Splits at line ends if lines are short enough; the decoder buffers a character that a split cuts. */
function * bufferChunks (bytes: Buffer): Generator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let start = 0; start < bytes.length;) {
    const limit = Math.min(bytes.length, start + CHUNK_SIZE)
    const lineEnd = bytes.subarray(start, limit).lastIndexOf(LINE_FEED)
    const end = limit === bytes.length || lineEnd === -1 ? limit : start + lineEnd + 1
    yield decoder.decode(bytes.subarray(start, end), { stream: true })
    start = end
  }
  yield decoder.decode()
}

/** Hashes an object's lists element by element; other members are small, because the body is validated. */
async function updateWithJson (hash: Hash, body: unknown): Promise<void> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    hash.update(textOf(body))
    return
  }
  let text = '{'
  const add = async (more: string): Promise<void> => {
    text += more
    if (text.length < CHUNK_SIZE) return
    if (isDue()) await giveWay()
    hash.update(text)
    text = ''
  }
  let separator = ''
  for (const [key, value] of Object.entries(body).sort(([a], [b]) => a < b ? -1 : 1)) {
    if (value === undefined) continue
    const name = `${separator}${JSON.stringify(key)}:`
    separator = ','
    if (!Array.isArray(value)) {
      await add(name + textOf(value))
      continue
    }
    await add(`${name}[`)
    for (const [index, element] of value.entries()) {
      if (isDue()) await giveWay()
      await add((index === 0 ? '' : ',') + textOf(element))
    }
    await add(']')
  }
  hash.update(`${text}}`)
}

/** The JSON of an element of a list, where a value that is not JSON becomes null. */
function textOf (value: unknown): string {
  return stringify(value) ?? 'null'
}
