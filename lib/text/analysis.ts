import { addAlternatives, furtherTerms } from './alternative-terms.js'
import { STOP_WORDS } from './stop-words.js'
import { stem, words } from './words.js'

/** Where a sentence lies in its text: UTF-16 offsets, `end` exclusive. */
export interface Span {
  start: number
  end: number
}

/** UTF-16 units that the segmenter is given at a time, unless a sentence is longer. */
const WINDOW_CHARACTERS = 4_096
// Shared, because the constructor loads ICU's rules. The locale is fixed, so every host cuts a text alike.
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * The sentences of a text in order, by Unicode's rules (UAX #29, as ICU implements them), in any language. A line feed
 * ends a sentence too (rule SB4), so list items and headings stand alone. An abbreviation before a capital (`Dr.
 * Smith`) ends a sentence, as in the standard.
 *
 * Each segment of the segmenter takes time in proportion to the whole text that it was given. A long text is therefore
 * segmented in windows, and the last sentence of a window, which may be incomplete, starts the next window. The only
 * difference from segmenting the whole text is that the look-ahead of rule SB8 (a full stop, any number of digits and
 * signs, then a small letter) stops at the end of a window.
 * @returns spans in order that do not overlap, are trimmed of white space and not empty; none for a blank text
 */
export function sentencesOf (text: string): Span[] {
  const spans: Span[] = []
  let from = 0
  let size = WINDOW_CHARACTERS
  while (from < text.length) {
    const window = text.slice(from, from + size)
    const hasMore = from + size < text.length
    let done = 0
    for (const { segment } of segmenter.segment(window)) {
      if (hasMore && done + segment.length === window.length) break
      pushTrimmed(spans, segment, from + done)
      done += segment.length
      // The window was widened for one long sentence; the next one starts with the usual size.
      if (size > WINDOW_CHARACTERS) break
    }
    size = done === 0 ? size * 2 : WINDOW_CHARACTERS
    from += done
  }
  return spans
}

function pushTrimmed (spans: Span[], segment: string, at: number): void {
  const length = segment.trim().length
  if (length === 0) return
  const start = at + segment.length - segment.trimStart().length
  spans.push({ start, end: start + length })
}

/**
 * How many UTF-16 units at the end of a text are searched for a question mark. The expression below has three
 * repetitions, so its time on an unbounded text (50,000 brackets) would be polynomial.
 */
const TAIL_CHARACTERS = 600
const ENDS_IN_QUESTION =
  /[?？؟][\s"'”’»)\]}\p{Extended_Pictographic}\p{M}\u200d]*(?:\[[^[\]]{0,500}\]|\([^()]{0,500}\))?\s*$/u

/**
 * The terms of a text as an index keeps them: stems of its words. Stop words are kept, unstemmed, so that a query of
 * nothing else (`who are you`) still finds something. They do not count in `length`, because a chatty text would
 * otherwise rank below a terse one with the same content. Alternatives (alternative-terms.ts) that are not among the
 * words follow them, each once, and do not count either.
 * @returns every term with the number of times it occurs, in order of first occurrence; the number of terms that are
 *   not stop words, repeats counted, at least 1 when there is any term; and whether it ends in a question
 */
export function analyzeText (text: string): { terms: Map<string, number>, length: number, question: boolean } {
  const terms = new Map<string, number>()
  const alternatives = new Set<string>()
  let length = 0
  for (const word of words(text)) {
    const stopped = STOP_WORDS.has(word)
    if (!stopped) length += 1
    const term = stopped ? word : stem(word)
    terms.set(term, (terms.get(term) ?? 0) + 1)
    addAlternatives(word, alternatives)
  }
  for (const further of furtherTerms(text)) for (const term of further) alternatives.add(term)
  if (length === 0 && terms.size > 0) length = 1
  for (const term of alternatives) if (!terms.has(term)) terms.set(term, 1)
  return { terms, length, question: endsInQuestion(text) }
}

/** Whether a text ends in a question; a remark in brackets or an emoji may follow it. */
export function endsInQuestion (text: string): boolean {
  return /[?？؟]/.test(text) && ENDS_IN_QUESTION.test(text.slice(-TAIL_CHARACTERS))
}

/** The stems of a text's words in order, with repeats, without stop words. */
export function contentStems (text: string): string[] {
  return words(text).filter((word) => !STOP_WORDS.has(word)).map(stem)
}
