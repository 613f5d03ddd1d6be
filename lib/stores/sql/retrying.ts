import { setTimeout as delay } from 'node:timers/promises'
import { SqlError } from './executor.js'

const ATTEMPTS = 8
/** The first pause at most, in milliseconds; it doubles, and is drawn anew each time, so that those who met do not meet again. */
const PAUSE_MS = 10

/** Whether a write has surely left nothing behind and may be made again: a deadlock, or a collision with another. */
export function isUndone (error: unknown): boolean {
  return error instanceof SqlError && (error.code === '40P01' || error.code === '40001')
}

/** Whether a write met an id that is in use. */
export function isTaken (error: unknown): boolean {
  return error instanceof SqlError && error.code === '23505'
}

/** What is thrown of work that is to be undone and made again. */
export function undone (reason: string): SqlError {
  return new SqlError('statement', reason, { code: '40001' })
}

/** Does work again that was undone. */
export async function retryUndone<T> (work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isUndone(error) || attempt + 1 === ATTEMPTS) throw error
      await delay(Math.random() * PAUSE_MS * 2 ** attempt)
    }
  }
}
