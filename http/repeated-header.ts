import type { IncomingMessage } from 'node:http'

/**
 * Whether a header is sent more than once. Node joins some repeated headers and keeps the first of others, so the
 * parsed value does not show it.
 * @param name in lower case
 */
export function isRepeated ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index]!
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count > 1
}
