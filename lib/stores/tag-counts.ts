import type { Steps } from '../concurrency/steps.js'
import { compareText } from '../text/compare-text.js'
import { TopK } from './top-k.js'

/** Number of tags in the statistics of a bank. */
export const MAX_TAG_COUNTS = 100

/** A tag and the number of memories that have it. */
export interface TagCount {
  tag: string
  count: number
}

/** Number of tags that one step examines. */
const TAGS_PER_STEP = 256

/**
 * The `MAX_TAG_COUNTS` most used tags, most used first, equally used ones by tag. A bank can have any number of tags.
 * @param counts the number of uses of each tag
 */
export function * mostUsedTags (counts: Iterable<readonly [tag: string, count: number]>): Steps<TagCount[]> {
  const first = new TopK<TagCount>(MAX_TAG_COUNTS, byUse)
  let seen = 0
  for (const [tag, count] of counts) {
    // Most tags are used less than the hundred kept ones, and need no object.
    const { threshold } = first
    if (threshold === undefined || count >= threshold.count) first.offer({ tag, count })
    if (++seen % TAGS_PER_STEP === 0) yield
  }
  return first.sorted()
}

function byUse (a: TagCount, b: TagCount): number {
  return b.count - a.count || compareText(a.tag, b.tag)
}
