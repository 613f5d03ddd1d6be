import { analyzeText } from '../text/analysis.js'
import { nameOf } from './speaker.js'
import type { Memory, Passage } from './vector-store.js'

/**
 * The passages of a memory with their index terms. The words of the speaker's name are added to the first passage, as
 * if they stood before the text, because a question names people. Not a role such as `user`, which every second memory
 * has.
 * @param spans UTF-16 offsets into the text, half-open
 */
export function indexedPassages (
  { text, speaker }: Pick<Memory, 'text' | 'speaker'>, spans: ReadonlyArray<Readonly<{ start: number, end: number }>>,
): Passage[] {
  const name = nameOf({ speaker })
  return spans.map(({ start, end }, ordinal) => {
    const { terms, length, question } = analyzeText(text.slice(start, end))
    if (ordinal > 0 || name === null) return { start, end, terms, length, question }
    const named = analyzeText(name)
    const all = new Map(terms)
    for (const [term, count] of named.terms) all.set(term, (all.get(term) ?? 0) + count)
    return { start, end, terms: all, length: length + named.length, question }
  })
}
