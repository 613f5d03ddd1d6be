import { signal } from '@preact/signals'
import { GATEWAY_URL } from '../urls.js'

const INITIAL_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 8000

/** Whether the last request did not reach the server. */
export const isUnreachable = signal(false)

/** Increases each time the server becomes reachable again; loads that failed are then repeated. */
export const reconnections = signal(0)

let timer: ReturnType<typeof setTimeout> | undefined

/** Checks repeatedly until the server is reachable again. */
export async function probe (delayMs = INITIAL_BACKOFF_MS): Promise<void> {
  clearTimeout(timer)
  try {
    const { ok } = await globalThis.fetch(new URL('live', GATEWAY_URL), { cache: 'no-store' })
    if (ok) {
      isUnreachable.value = false
      reconnections.value++
      return
    }
  } catch {
    // Still unreachable.
  }
  timer = setTimeout(() => { void probe(Math.min(delayMs * 2, MAX_BACKOFF_MS)) }, delayMs)
}

/** The browser's fetch, which also detects that the server has become unreachable. */
export async function watchedFetch (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await globalThis.fetch(input, init)
  } catch (error) {
    const isAborted = init?.signal?.aborted === true
    if (!isAborted && !isUnreachable.value) {
      isUnreachable.value = true
      void probe()
    }
    throw error
  }
}

/** Detects that the server has become unreachable when something failed that `watchedFetch` does not request. */
export async function checkConnection (): Promise<void> {
  await watchedFetch(new URL('live', GATEWAY_URL), { cache: 'no-store' }).catch(() => {})
}
