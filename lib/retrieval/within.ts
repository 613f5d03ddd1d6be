/** The work was not done in its time. */
export class OutOfTime extends Error {
  constructor (timeoutMs: number) {
    super(`Not done within ${timeoutMs} ms`)
    this.name = 'OutOfTime'
  }
}

/**
 * Does work that may be given up: its signal aborts when the time is over or the caller's signal does, and the answer is not waited for then.
 * @throws OutOfTime; the caller's reason; what the work throws
 */
export async function within<T> (timeoutMs: number, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const leave = () => { controller.abort(signal!.reason) }
  if (signal?.aborted === true) leave()
  signal?.addEventListener('abort', leave, { once: true })
  const timer = setTimeout(() => { controller.abort(new OutOfTime(timeoutMs)) }, timeoutMs)
  try {
    return await new Promise<T>((resolve, reject) => {
      const giveUp = () => { const reason: unknown = controller.signal.reason; reject(reason instanceof Error ? reason : new Error('Given up')) }
      if (controller.signal.aborted) { giveUp(); return }
      controller.signal.addEventListener('abort', giveUp, { once: true })
      work(controller.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}
