import { withTimeLimit } from '../../lib/base/deadline.js'
import { readBounded } from '../../lib/base/read-bounded.js'

/** A provider's set has a handful of keys of about 500 bytes each. */
const MAX_BYTES = 64 * 1024

/**
 * Reads a JWKS document.
 * @param timeoutMs time limit of the whole exchange, body included
 * @returns the parsed JSON @throws when the provider does not answer 200 with JSON of at most 64 KiB in time
 */
export async function fetchJwks (url: string, timeoutMs: number): Promise<unknown> {
  return await withTimeLimit(timeoutMs, undefined, async (signal) => {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      // Keys come from the configured URL only, so a redirect is not followed.
      redirect: 'error',
      signal,
    })
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      throw new Error(`The key set was answered with status ${response.status}`)
    }
    const text = await readBounded(response.body, MAX_BYTES, signal, () => (
      new Error(`The key set is over ${MAX_BYTES} bytes`)
    ))
    return JSON.parse(text) as unknown
  }, () => new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
}
