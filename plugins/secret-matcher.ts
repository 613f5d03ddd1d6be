import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * @returns a comparison with `secret` whose duration reveals nothing about it. The HMAC under a random key gives both
 *   sides the same length, which timingSafeEqual needs, and makes them unpredictable to the client.
 */
export function secretMatcher (secret: string): (candidate: string) => boolean {
  const key = randomBytes(32)
  const digest = (text: string) => createHmac('sha256', key).update(text, 'utf8').digest()
  const expected = digest(secret)
  return (candidate) => timingSafeEqual(digest(candidate), expected)
}
