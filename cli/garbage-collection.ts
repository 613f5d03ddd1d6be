import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** From this heap limit on, in bytes, V8 by itself lets the heap grow further before a full collection. */
const LARGE_HEAP_BYTES = 1024 ** 3
/** How much a small heap may grow beyond what survived the last full collection before the next one, in percent. */
const GROWTH_PERCENT = 65

/**
 * Shortens the time for which requests wait for full garbage collections in a process with a small heap limit. There V8
 * begins the next one when the heap has grown by about half or less, so requests with large bodies cause several a
 * second. V8 still collects earlier near the heap limit.
 *
 * On Node.js 20 V8 also marks objects in tasks of the main thread, which take most of its time while a collection
 * lasts. Without them its other threads mark most objects, and the main thread only in proportion to what it allocates.
 * Later versions take this option at their start only, and ignore it here; pauses are as short there without it.
 */
export function shortenCollectionsOfSmallHeaps (): void {
  if (getHeapStatistics().heap_size_limit >= LARGE_HEAP_BYTES) return
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString('--no-incremental-marking-task')
}
