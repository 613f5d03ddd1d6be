import { normalForm } from './normal-form.js'

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

const BEYOND_ASCII = /[\u0080-\uffff]/
/** Invisible characters: joiners, soft hyphens, controls of direction, tag characters, variation selectors, fillers. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu
const APOSTROPHE = /['\u2019]/
const MARKS = /\p{M}/gu
const WORD = /[\p{L}\p{N}]+|@/gu

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ...pairs('авеіјкмнорсѕтухһԁԛԝ', 'abeijkmhopcstyxhdqw'),
  ...pairs('αβεικνορτυχωγϲϳ', 'abeikvoptuxwycj'),
  ...pairs('ıɡɑʟʀ', 'igalr'),
])
const LOOKALIKE = new RegExp(`[${[...LOOKALIKES.keys()].join('')}]`, 'g')

/** @returns the text as a reader sees it: in compatibility forms (NFKC) and without invisible characters */
export function renderedText (text: string): string {
  return BEYOND_ASCII.test(text) ? normalForm(text.replace(INVISIBLE, ''), 'NFKC') : text
}

/**
 * The words of a text without the usual disguises: case, accents and lookalikes of other scripts are folded, `don't` is
 * `dont` and `you're` is `you are`. An `@` is a word.
 * @param seen a text of renderedText()
 */
export function plainWords (seen: string): string[] {
  let text = seen.toLowerCase()
  if (BEYOND_ASCII.test(text)) {
    text = text.normalize('NFD').replace(MARKS, '').replace(LOOKALIKE, (letter) => LOOKALIKES.get(letter)!)
  }
  if (APOSTROPHE.test(text)) text = text.replace(/n['\u2019]t\b/g, 'nt').replace(/['\u2019]re\b/g, ' are')
  return text.match(WORD) ?? []
}

function pairs (letters: string, latin: string): Array<[string, string]> {
  return [...letters].map((letter, index) => [letter, latin[index]!])
}

/** Flags of England, Scotland and Wales: a black flag and the tag characters of `gbeng`, `gbsct` or `gbwls`. */
const TAG_FLAGS = new RegExp([
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}`,
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}`,
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}`,
].join('|'), 'gu')

const LETTER = '[\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}]'
const HIDING = [
  // Tag characters are invisible to people, but models read them.
  /[\u{e0000}-\u{e007f}]/u,
  // Direction overrides display text in another order than it is stored in. Direction marks, embeddings and isolates
  // are ordinary in copied text.
  /[\u202d\u202e]/,
  // Words of these scripts contain no invisible characters. Persian, Indic scripts and emoji need joiners, and Thai
  // needs the zero-width space.
  new RegExp(`${LETTER}[\u180e\u200b-\u200d\u202a-\u202c\u2060-\u2064\u2066-\u2069\ufeff]+${LETTER}`, 'u'),
  // Longer sequences than any script or emoji uses can encode bits.
  /[\u180e\u200b-\u200f\u2060-\u2064\ufeff]{5}/,
  /[\ufe00-\ufe0f]{3}/,
  /[\u115f\u1160\u3164\uffa0]{3}/,
  // These select variants of ideographs; after any other character they can encode bytes.
  /(?:^|[^\p{sc=Han}])[\u{e0100}-\u{e01ef}]/u,
  /[\ufff9-\ufffb]/,
]

/** The most characters that are decoded of each form. */
const MAX_DECODED_CHARACTERS = 262_144

const BASE64 = /[A-Za-z0-9+/_-]{24,}/g
const HEX = /(?:[0-9A-Fa-f]{2}){16,}/g
const PERCENT = /(?:%[0-9A-Fa-f]{2}){4,}/g
const ESCAPES = /\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{1,6});|&#(\d{1,7});/g

/** Whether a text contains characters that hide text from a human reader. */
export function hidesText (text: string): boolean {
  if (!BEYOND_ASCII.test(text)) return false
  const rest = text.replace(TAG_FLAGS, '')
  return HIDING.some((pattern) => pattern.test(rest))
}

/**
 * The decoded base64, hexadecimal, percent-encoded and escaped parts of a text: one string for each form that occurs,
 * in which all of its parts are joined.
 */
export function decodedTexts (text: string): string[] {
  // A run of hexadecimal digits is also a run of base64 characters, so texts without the latter need no second search.
  const isBase64 = text.search(BASE64) >= 0
  const base64 = isBase64 ? joined(text, BASE64, (part) => Buffer.from(part, 'base64').toString('latin1')) : ''
  const hex = isBase64 ? joined(text, HEX, (part) => Buffer.from(part, 'hex').toString('latin1')) : ''
  const percent = text.includes('%')
    ? joined(text, PERCENT, (part) => Buffer.from(part.replaceAll('%', ''), 'hex').toString('latin1'))
    : ''
  const found = [base64, hex, percent, unescaped(text)].filter((bytes) => bytes !== '')
  return found.map((bytes) => Buffer.from(bytes, 'latin1').toString())
}

function joined (text: string, pattern: RegExp, decode: (part: string) => string): string {
  let decoded = ''
  let remaining = MAX_DECODED_CHARACTERS
  for (const [part] of text.matchAll(pattern)) {
    if (remaining <= 0) break
    decoded += decode(part.slice(0, remaining))
    remaining -= part.length
  }
  return decoded
}

/**
 * The text with its character escapes decoded, as a binary string of UTF-8 like the other forms; '' without escapes.
 */
function unescaped (text: string): string {
  if (!(text.includes('\\') || text.includes('&#')) || text.search(ESCAPES) < 0) return ''
  const examined = text.slice(0, MAX_DECODED_CHARACTERS)
  let plain = ''
  let from = 0
  for (const { 0: sequence, 1: unit, 2: byte, 3: hex, 4: decimal, index } of examined.matchAll(ESCAPES)) {
    const point = unit ?? byte ?? hex
    const code = point === undefined ? Number(decimal) : Number.parseInt(point, 16)
    plain += examined.slice(from, index) + (code <= 0x10ffff ? String.fromCodePoint(code) : sequence)
    from = index + sequence.length
  }
  return Buffer.from(plain + examined.slice(from)).toString('latin1')
}
