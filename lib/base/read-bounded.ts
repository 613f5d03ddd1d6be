/**
 * A body that fails and is cancelled, which closes its connection, when it has more than `maxBytes` and when the signal
 * aborts. It is read with back-pressure, and cancelling it cancels the body. It observes the signal itself, because
 * fetch refers to its signal weakly: in Node.js 20 a body no longer ends with it after a garbage collection.
 * @param tooLong the error of a longer body
 * @param brokenOff the error for that of the connection; default: the latter itself
 */
export function boundedBody (
  body: ReadableStream<Uint8Array>, maxBytes: number, signal: AbortSignal,
  tooLong: () => Error, brokenOff: (error: unknown) => unknown = (error) => error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  // Cancelling a body that has failed rejects.
  const cancel = (reason: unknown) => { reader.cancel(reason).catch(() => {}) }
  let abort = () => {}
  const unlink = () => { signal.removeEventListener('abort', abort) }
  let bytes = 0
  return new ReadableStream<Uint8Array>({
    start (controller) {
      abort = () => {
        controller.error(signal.reason)
        cancel(signal.reason)
      }
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    },
    async pull (controller) {
      const fail = (error: unknown) => {
        unlink()
        controller.error(error)
      }
      try {
        const { done, value } = await reader.read()
        if (signal.aborted) return
        if (done) {
          unlink()
          controller.close()
        } else if ((bytes += value.byteLength) > maxBytes) {
          fail(tooLong())
          cancel(undefined)
        } else {
          controller.enqueue(value)
        }
      } catch (error) {
        fail(brokenOff(error))
      }
    },
    cancel (reason) {
      unlink()
      cancel(reason)
    },
  }, { highWaterMark: 0 })
}

/** Reads a body as UTF-8 text. @throws as boundedBody() fails */
export async function readBounded (...bounded: Parameters<typeof boundedBody>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of boundedBody(...bounded)) chunks.push(chunk)
  return new TextDecoder().decode(Buffer.concat(chunks))
}
