/*
 * Characters that are invisible to people but not to models: tag characters, direction controls, invisible operators
 * and fillers, variation selectors beyond the first sixteen, control characters. Not among them are the joiners
 * (U+200C, U+200D) and the first variation selectors, because emoji and several scripts need them.
 */
const RANGES = [
  // Control characters except the tab and the line feed.
  '\\u{0}-\\u{8}', '\\u{b}-\\u{1f}', '\\u{7f}-\\u{9f}',
  // Soft hyphen, grapheme joiner, fillers, vowels without a shape, Mongolian selectors.
  '\\u{ad}', '\\u{34f}', '\\u{115f}', '\\u{1160}', '\\u{17b4}', '\\u{17b5}', '\\u{180b}-\\u{180f}', '\\u{3164}',
  '\\u{ffa0}',
  // Zero-width space, controls of direction, line and paragraph separators, invisible operators.
  '\\u{61c}', '\\u{200b}', '\\u{200e}', '\\u{200f}', '\\u{2028}-\\u{202e}', '\\u{2060}-\\u{206f}', '\\u{feff}',
  '\\u{fff0}-\\u{fffb}',
  // Shorthand and musical formatting, tags and the selectors of variants beyond the first sixteen.
  '\\u{1bca0}-\\u{1bca3}', '\\u{1d173}-\\u{1d17a}', '\\u{e0000}-\\u{e0fff}',
]
const HIDDEN = new RegExp(RANGES.map((range) => `[${range}]`).join('|'), 'gu')

/**
 * Joiners and the first variation selectors. After certain characters they are part of the writing; anywhere else they
 * can hide bits.
 */
const SHAPING = /\u200c|\u200d|[\ufe00-\ufe0f]/
/** Scripts that are written with joiners (Unicode, chapter 23.2), and what an emoji sequence is joined from. */
const JOINED = new RegExp([
  ...[
    'Arab', 'Beng', 'Deva', 'Gujr', 'Guru', 'Khmr', 'Knda', 'Mlym', 'Mong', 'Mymr', 'Nkoo', 'Orya', 'Sinh', 'Syrc',
    'Taml', 'Telu', 'Tibt',
  ]
    .map((script) => `\\p{scx=${script}}`),
  '\\p{Extended_Pictographic}', '\\p{EMod}', '\\ufe0f',
].join('|'), 'u')
const BASE = /[\p{L}\p{N}\p{M}\p{S}\p{P}]/u

/**
 * Removes invisible characters. Joiners and variation selectors stay after a character that combines with them.
 * @param before the character before the text, when it is part of a longer one
 * @returns the text; line feeds and tabs stay
 */
export function visibleText (text: string, before = ''): string {
  const visible = text.replace(HIDDEN, '')
  if (!SHAPING.test(visible)) return visible
  let kept = ''
  let last = before
  for (const character of visible) {
    if (SHAPING.test(character)) {
      const isJoiner = character === '\u200c' || character === '\u200d'
      const isAllowed = isJoiner ? JOINED.test(last) : BASE.test(last) && !SHAPING.test(last)
      if (!isAllowed) continue
    }
    kept += character
    last = character
  }
  return kept
}
