/** A provider's set has a handful of keys of about 500 bytes each. */
const MAX_BYTES = 64 * 1024

/**
 * Reads a JWKS document.
 * @param timeoutMs time limit of the whole exchange, body included
 * @returns the parsed JSON @throws when the provider does not answer 200 with JSON of at most 64 KiB in time
 */
export async function fetchJwks (url: string, timeoutMs: number): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs)
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
  return JSON.parse(await readText(response.body, signal))
}

async function readText (body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<string> {
  const reader = body.getReader()
  const stop = () => { reader.cancel(signal.reason).catch(() => {}) }
  // fetch refers to the signal weakly: in Node 20 the body no longer ends with it after a garbage collection.
  signal.addEventListener('abort', stop)
  try {
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return Buffer.concat(chunks).toString('utf8')
      size += value.byteLength
      if (size > MAX_BYTES) throw new Error(`The key set is over ${MAX_BYTES} bytes`)
      chunks.push(value)
    }
  } catch (error) {
    stop()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
