import { giveWay, isDue } from '../base/event-loop.js'
import { compareText } from '../text/normal-form.js'
import { TopK } from './top-k.js'

/** Number of tags, and of speakers, in the statistics of a bank. */
export const MAX_COUNTED_VALUES = 100

/** A value and the number of memories that have it. */
interface ValueCount {
  value: string
  count: number
}

/**
 * The `MAX_COUNTED_VALUES` most frequent values, most frequent first, equally frequent ones by value. A bank can have
 * any number of them.
 * @param counts the number of memories with each value
 */
export async function mostFrequent (
  counts: Iterable<readonly [value: string, count: number]>,
): Promise<ValueCount[]> {
  const first = new TopK<ValueCount>(MAX_COUNTED_VALUES, byCount)
  for (const [value, count] of counts) {
    if (isDue()) await giveWay()
    // Most values are less frequent than the hundred kept ones, and need no object.
    const { threshold } = first
    if (threshold === undefined || count >= threshold.count) first.offer({ value, count })
  }
  return first.sorted()
}

function byCount (a: ValueCount, b: ValueCount): number {
  return b.count - a.count || compareText(a.value, b.value)
}
