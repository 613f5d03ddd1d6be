import { atOnce, type Steps } from '../concurrency/steps.js'

/** Where a sentence lies in its text: UTF-16 offsets, `end` exclusive. */
export interface Span {
  start: number
  end: number
}

/** UTF-16 units that ICU sees at a time, unless a sentence is longer. */
const WINDOW = 4_096
/** Segments that are read in a step; with blank ones a text has many. */
const TOGETHER = 64

// Building one loads ICU's rules. The locale is fixed so that a text is cut alike on every host.
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * The sentences of a text in order, by Unicode's rules (UAX #29, as ICU has them), in any language. A line feed ends a
 * sentence too (rule SB4), so list items and headings stand alone. An abbreviation before a capital (`Dr. Smith`)
 * is taken for an end, as the standard does.
 *
 * Each step of a segmenter takes time in proportion to the whole text it was given, so a long text is given in windows
 * and the last sentence of a window, which may go on, begins the next. Only the look-ahead of rule SB8 (a full
 * stop that a small letter follows, over any number of digits and signs) ends at a window's end.
 * @returns spans that are trimmed of white space, not empty, in order and apart; none for a blank text
 */
export function sentences (text: string): Span[] {
  return atOnce(sentenceSteps(text))
}

/** sentences, for texts of any length. */
export function * sentenceSteps (text: string): Steps<Span[]> {
  const spans: Span[] = []
  let count = 0
  let from = 0
  let size = WINDOW
  while (from < text.length) {
    const window = text.slice(from, from + size)
    const goesOn = from + size < text.length
    let done = 0
    for (const { segment } of segmenter.segment(window)) {
      if (goesOn && done + segment.length === window.length) break
      pushTrimmed(spans, segment, from + done)
      if (++count % TOGETHER === 0) yield
      done += segment.length
      // A wide window was for one long sentence; short ones after it are cheaper in a window of their own.
      if (size > WINDOW) break
    }
    yield
    size = done === 0 ? size * 2 : WINDOW
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
