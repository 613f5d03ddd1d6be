import { Readable } from 'node:stream'

/** Bytes that are given to a connection at a time: how far its client has come is known in steps of this. */
export const PIECE_BYTES = 65_536

/** What is kept of a stream whose client does not read: the text that is turned into bytes, the piece that is next, the one that is sent. */
export const STREAM_BYTES = 3 * PIECE_BYTES

/** Bytes in pieces, none of them copied. */
export function * slices (bytes: Buffer): Generator<Buffer, void> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES)
}

/** Texts as bytes in pieces of about PIECE_BYTES, however long or short each text is; the first goes ahead, so that a client sees an answer come. */
export async function * pieces (texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  let pending = ''
  let isFirst = true
  for await (const text of texts) {
    pending += text
    if (pending.length < PIECE_BYTES && !isFirst) continue
    isFirst = false
    yield * slices(Buffer.from(pending))
    pending = ''
  }
  if (pending !== '') yield * slices(Buffer.from(pending))
}

/** A stream that takes the next piece from its source when the client has taken the one before. */
export function paced (source: Iterable<Buffer> | AsyncIterable<Buffer>): Readable {
  return Readable.from(source, { objectMode: false, highWaterMark: 1 })
}
