import { signal } from '@preact/signals'
import { GATEWAY_URL } from '../mount.js'

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 8000

/** Whether the last request found nobody. */
export const isAway = signal(false)

/** Counts how often the server has come back: what failed meanwhile is loaded again. */
export const recoveries = signal(0)

let timer: ReturnType<typeof setTimeout> | undefined

/** Asks whether the server is there again, and goes on asking until it is. */
export async function probe (wait = FIRST_WAIT_MS): Promise<void> {
  clearTimeout(timer)
  try {
    const { ok } = await globalThis.fetch(new URL('live', GATEWAY_URL), { cache: 'no-store' })
    if (ok) {
      isAway.value = false
      recoveries.value++
      return
    }
  } catch {
    // Still away.
  }
  timer = setTimeout(() => { void probe(Math.min(wait * 2, LONGEST_WAIT_MS)) }, wait)
}

/** The browser's fetch, which notices when the server goes away. */
export async function watchedFetch (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await globalThis.fetch(input, init)
  } catch (error) {
    const isOurs = init?.signal?.aborted !== true
    if (isOurs && !isAway.value) {
      isAway.value = true
      void probe()
    }
    throw error
  }
}
