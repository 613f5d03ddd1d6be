/**
 * Reads a body as text. It stops at more than `maxBytes`, and when the signal aborts: fetch refers to its signal
 * weakly, so that in Node.js 20 a body no longer ends with it after a garbage collection.
 * @param tooLong the error of a longer body
 * @throws that error; the signal's reason; what the body fails with
 */
export async function readBounded (
  body: ReadableStream<Uint8Array>, maxBytes: number, signal: AbortSignal, tooLong: () => Error,
): Promise<string> {
  const reader = body.getReader()
  const stop = () => { reader.cancel(signal.reason).catch(() => {}) }
  signal.addEventListener('abort', stop)
  try {
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return Buffer.concat(chunks).toString('utf8')
      size += value.byteLength
      if (size > maxBytes) throw tooLong()
      chunks.push(value)
    }
  } catch (error) {
    stop()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
