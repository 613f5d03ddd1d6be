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

/**
 * The `MAX_TAG_COUNTS` most used tags, most used first, equally used ones by tag. A bank can have any number of tags.
 */
export function * mostUsedTags (counts: Iterable<TagCount>): Steps<TagCount[]> {
  const first = new TopK<TagCount>(MAX_TAG_COUNTS, byUse)
  for (const each of counts) {
    first.offer(each)
    yield
  }
  return first.sorted()
}

function byUse (a: TagCount, b: TagCount): number {
  return b.count - a.count || compareText(a.tag, b.tag)
}
