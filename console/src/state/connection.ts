import { signal } from '@preact/signals'
import { GATEWAY_URL } from '../mount.js'

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 8000

/** Whether the last request did not reach the server. */
export const isAway = signal(false)

/** Counts how often the server has become reachable again, after which failed loads are repeated. */
export const recoveries = signal(0)

let timer: ReturnType<typeof setTimeout> | undefined

/** Checks repeatedly until the server is reachable again. */
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
    // Still unreachable.
  }
  timer = setTimeout(() => { void probe(Math.min(wait * 2, LONGEST_WAIT_MS)) }, wait)
}

/** The browser's fetch, which also detects that the server has become unreachable. */
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
