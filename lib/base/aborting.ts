import { setMaxListeners } from 'node:events'

/**
 * A controller that is aborted with the signal. AbortSignal.any would keep each derived signal in memory for as long as
 * its sources live, and those of a server live long.
 * @returns the controller, and a function that removes the listener from the signal
 */
export function linkedAbort (signal: AbortSignal | undefined): { controller: AbortController, unlink: () => void } {
  const controller = new AbortController()
  // One call may add hundreds of listeners to this signal, where Node.js warns from eleven on.
  setMaxListeners(0, controller.signal)
  if (signal === undefined) return { controller, unlink: () => {} }
  const abort = () => { controller.abort(signal.reason) }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return { controller, unlink: () => { signal.removeEventListener('abort', abort) } }
}

/**
 * Waits for the promise or the signal, whichever settles first. On an abort it rejects at once with the signal's reason
 * and ignores how the promise ends.
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
    // Work that observes the signal may reject with an error of its own; the signal's reason takes precedence.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
