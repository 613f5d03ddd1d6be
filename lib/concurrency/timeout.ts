/** What withTimeout() returns when the time is over first. */
export const TIMED_OUT = Symbol('timed out')

/**
 * Waits for work that cannot be aborted. For work that takes a signal, use withTimeLimit() of deadline.ts.
 * @param milliseconds Infinity: no limit
 * @returns what the work resolves to, or TIMED_OUT; the work then continues, and its result is ignored
 * @throws what the work throws in time
 */
export async function withTimeout<T> (work: Promise<T>, milliseconds: number): Promise<T | typeof TIMED_OUT> {
  if (milliseconds === Infinity) return await work
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => { timer = setTimeout(resolve, milliseconds, TIMED_OUT) })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
