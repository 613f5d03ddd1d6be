import { setMaxListeners } from 'node:events'

/**
 * A controller that is aborted with the signal. It is written out because AbortSignal.any keeps what it made for as
 * long as the signals live, and those of a server live long.
 * @returns the controller, and what ends the link
 */
export function linkedAbort (signal: AbortSignal | undefined): { controller: AbortController, unlink: () => void } {
  const controller = new AbortController()
  // All that a call waits for listens to one signal, and that may be hundreds.
  setMaxListeners(0, controller.signal)
  if (signal === undefined) return { controller, unlink: () => {} }
  const abort = () => { controller.abort(signal.reason) }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return { controller, unlink: () => { signal.removeEventListener('abort', abort) } }
}

/**
 * What the promise resolves to, unless the signal is aborted first: then it rejects at once with the signal's reason,
 * and how the promise ends concerns nobody.
 */
export async function unlessAborted<T> (promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  promise.catch(() => {})
  signal.throwIfAborted()
  let abort!: () => void
  const aborted = new Promise<void>((resolve) => { abort = resolve })
  signal.addEventListener('abort', abort, { once: true })
  try {
    const first = await Promise.race([promise, aborted])
    signal.throwIfAborted()
    return first as T
  } catch (error) {
    // Work that heeds the signal may have failed by it, in words of its own.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
