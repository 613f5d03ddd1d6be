import { createHmac, timingSafeEqual } from 'node:crypto'
import { giveWay, isDue } from '../concurrency/event-loop.js'

/** The largest difference between a signed timestamp and the clock. */
const TOLERANCE_SECONDS = 300
/** Bytes that are hashed before the event loop is yielded: about a millisecond. */
const CHUNK_BYTES = 262_144

export interface SignatureRule {
  secret: string
  /** Headers, lower-cased. */
  header: string
  timestampHeader?: string | undefined
}

/** Reads a header as Node does: a repeated one is one text with commas, which no signature or timestamp matches. */
export type HeaderLookup = (name: string) => string | string[] | undefined

/**
 * HMAC-SHA256 in hex, with or without `sha256=`, over the raw body, or over `<timestamp>.<raw body>`.
 * The digests are compared in constant time. The event loop is yielded while a long body is hashed.
 */
export async function isSigned (
  rule: SignatureRule, header: HeaderLookup, body: Buffer, now: number,
): Promise<boolean> {
  const signature = header(rule.header)
  if (typeof signature !== 'string') return false
  const hmac = createHmac('sha256', rule.secret)
  if (rule.timestampHeader !== undefined) {
    const timestamp = header(rule.timestampHeader)
    if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp.trim())) return false
    if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
    hmac.update(`${timestamp.trim()}.`)
  }
  const hex = signature.trim().replace(/^sha256=/i, '')
  if (!/^[0-9a-f]{64}$/i.test(hex)) return false
  for (let from = 0; from < body.length; from += CHUNK_BYTES) {
    if (isDue()) await giveWay()
    hmac.update(body.subarray(from, from + CHUNK_BYTES))
  }
  return timingSafeEqual(hmac.digest(), Buffer.from(hex, 'hex'))
}
