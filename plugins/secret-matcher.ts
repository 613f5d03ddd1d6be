import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * @returns a comparison with `secret` whose time tells nothing about it. The HMAC under a random key makes both sides
 *   equally long, as timingSafeEqual needs, and unpredictable, so that no chosen input can steer the comparison.
 */
export function secretMatcher (secret: string): (given: string) => boolean {
  const key = randomBytes(32)
  const digest = (text: string) => createHmac('sha256', key).update(text, 'utf8').digest()
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}
