import { setMaxListeners } from 'node:events'

/**
 * A controller that is aborted with the signal. It is written out because AbortSignal.any keeps what it made for as long as the
 * signals live, and those of a server live long.
 * @returns the controller, and what ends the link
 */
export function linkedAbort (signal: AbortSignal | undefined): { controller: AbortController, unlink: () => void } {
  const controller = new AbortController()
  // All requests of a call listen to one signal, and they may be hundreds.
  setMaxListeners(0, controller.signal)
  if (signal === undefined) return { controller, unlink: () => {} }
  const abort = () => { controller.abort(signal.reason) }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return { controller, unlink: () => { signal.removeEventListener('abort', abort) } }
}
