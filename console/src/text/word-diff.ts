import { diffWordsWithSpace } from 'diff'

export interface DiffPart {
  text: string
  kind: 'same' | 'added' | 'removed'
}

/** Texts that differ in more words are not compared: it would take seconds, and nobody could read the outcome. */
const MAX_DIFFERENT_WORDS = 2000

/** What of one text is in the other, word by word. */
export function wordDiff (before: string, after: string): DiffPart[] {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_DIFFERENT_WORDS })
  if (parts === undefined) return [{ text: before, kind: 'removed' }, { text: after, kind: 'added' }]
  return parts.map(({ value, added, removed }) => ({
    text: value, kind: added ? 'added' : removed ? 'removed' : 'same',
  }))
}
