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
