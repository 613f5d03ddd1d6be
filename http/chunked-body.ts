import { Readable } from 'node:stream'

/** Bytes that are written to a connection at a time, also the precision to which a client's progress is known. */
export const CHUNK_BYTES = 65_536

/**
 * Memory that a stream takes while its client does not read: the text that is being encoded, the chunk that is next
 * and the chunk that is being sent.
 */
export const STREAM_BYTES = 3 * CHUNK_BYTES

/** Splits bytes into chunks without copying them. */
export function * splitBytes (bytes: Buffer): Generator<Buffer, void> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES)
}

/**
 * Encodes texts of any length as chunks of about CHUNK_BYTES. The first text is not buffered, so that the response
 * begins at once.
 */
export async function * encodeChunks (texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  let pending = ''
  let isFirst = true
  for await (const text of texts) {
    pending += text
    if (pending.length < CHUNK_BYTES && !isFirst) continue
    isFirst = false
    yield * splitBytes(Buffer.from(pending))
    pending = ''
  }
  if (pending !== '') yield * splitBytes(Buffer.from(pending))
}

/** A stream with full back-pressure: it reads a chunk from its source when the client has taken the one before. */
export function backPressured (chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Readable {
  return Readable.from(chunks, { objectMode: false, highWaterMark: 1 })
}
