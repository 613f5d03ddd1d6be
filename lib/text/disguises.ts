/** Flags of England, Scotland and Wales: a black flag and the tag characters of `gbeng`, `gbsct` or `gbwls`. */
const TAG_FLAGS = new RegExp([
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}`,
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}`,
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}`,
].join('|'), 'gu')
const BEYOND_ASCII = /[\u0080-\uffff]/

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
  for (const pattern of HIDING) {
    if (pattern.test(rest)) return true
  }
  return false
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
  const escaped = unescaped(text)
  if (base64 === '' && hex === '' && percent === '' && escaped === '') return []
  return [base64, hex, percent, escaped].flatMap((decoded) => decoded === '' ? [] : [asUtf8(decoded)])
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

function asUtf8 (bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
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
