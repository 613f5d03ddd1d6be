import { setTimeout as delay } from 'node:timers/promises'

interface RetryOptions {
  /**
   * Milliseconds to pause before the next attempt; undefined: there is none, and the error is thrown.
   * @param failures attempts that have failed, at least 1
   */
  delayMs: (error: unknown, failures: number) => number | undefined
  /** Resolves after the pause; the reason of a rejection is thrown. Default: a timer. */
  sleep?: (milliseconds: number) => Promise<void>
}

/**
 * Makes attempts until one succeeds or no other may be made. It is our own because the pauses of cockatiel's retry
 * policy, which has many other parts, cannot be aborted.
 */
export async function retry<T> (attempt: () => Promise<T>, { delayMs, sleep = delay }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const milliseconds = delayMs(error, failures)
      if (milliseconds === undefined) throw error
      await sleep(milliseconds)
    }
  }
}

/**
 * The longest delay after so many failures: `baseMs` after the first, and twice as long each time. Callers add
 * jitter.
 */
export function exponentialBackOff (failures: number, baseMs: number, maxMs = Infinity): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1))
}
