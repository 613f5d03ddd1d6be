import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a loop over items runs before sockets, timers and other requests have their turn. */
const SLICE_MS = 10

let resumedAt = 0

/** Whether a loop has run for so long that it must `giveWay`. */
export function isDue (): boolean {
  return performance.now() - resumedAt >= SLICE_MS
}

/**
 * Gives the event loop back when it is due. Loops over items, lines and rows whose number a caller decides await it
 * between two of them:
 *
 *     if (isDue()) await giveWay()
 */
export async function giveWay (): Promise<void> {
  if (!isDue()) return
  await nextTurn()
  resumedAt = performance.now()
}

/** Maps a list and gives the event loop back in between. */
export async function mapGivingWay<T, R> (items: Iterable<T>, map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    if (isDue()) await giveWay()
    results.push(map(item, results.length))
  }
  return results
}
