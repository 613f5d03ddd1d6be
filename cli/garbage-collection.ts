import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** From this heap limit on, in bytes, V8 by itself lets the heap grow further before a full collection. */
const LARGE_HEAP_BYTES = 1024 ** 3
/** How much a small heap may grow beyond what survived the last full collection before the next one, in percent. */
const GROWTH_PERCENT = 100

/**
 * Makes full garbage collections rarer in a process with a small heap limit. There V8 begins the next one when the heap
 * has grown by about half, and requests with large bodies cause two to four pauses of some 10 ms a second, for which
 * every other caller waits. V8 still collects earlier near the heap limit.
 */
export function collectSmallHeapsLessOften (): void {
  if (getHeapStatistics().heap_size_limit < LARGE_HEAP_BYTES) {
    setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  }
}
