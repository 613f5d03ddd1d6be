/** What the promise gives, unless the signal comes first: then it rejects at once with the signal's reason. */
export async function unlessAborted<T> (promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  signal.throwIfAborted()
  let abort!: () => void
  const aborted = new Promise<void>((resolve) => { abort = resolve })
  signal.addEventListener('abort', abort, { once: true })
  try {
    const first = await Promise.race([promise, aborted])
    signal.throwIfAborted()
    return first as T
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
