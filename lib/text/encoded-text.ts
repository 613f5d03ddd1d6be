/** Characters that are decoded at most of each form. */
const MOST = 262_144

const BASE64 = /[A-Za-z0-9+/_-]{24,}/g
const HEX = /(?:[0-9A-Fa-f]{2}){16,}/g
const PERCENT = /(?:%[0-9A-Fa-f]{2}){4,}/g
const ESCAPES = /\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{1,6});|&#(\d{1,7});/g

/** What the base64, hexadecimal and escaped parts of a text say, one form a piece; pieces without any are absent. Parts of several lines are one. */
export function decodedTexts (text: string): string[] {
  const base64 = joined(text, BASE64, (part) => Buffer.from(part, 'base64').toString('latin1'))
  const hex = joined(text, HEX, (part) => Buffer.from(part, 'hex').toString('latin1'))
  const percent = joined(text, PERCENT, (part) => Buffer.from(part.replaceAll('%', ''), 'hex').toString('latin1'))
  return [base64, hex, percent, unescaped(text)].flatMap((decoded) => decoded === '' ? [] : [asUtf8(decoded)])
}

function joined (text: string, pattern: RegExp, decode: (part: string) => string): string {
  let decoded = ''
  let left = MOST
  for (const [part] of text.matchAll(pattern)) {
    if (left <= 0) break
    decoded += decode(part.slice(0, left))
    left -= part.length
  }
  return decoded
}

function asUtf8 (bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}

/** The text with escapes of characters as these; '' when there are none. As bytes, like the other forms. */
function unescaped (text: string): string {
  if (text.search(ESCAPES) < 0) return ''
  const plain = text.slice(0, MOST).replace(ESCAPES, (whole, unit?: string, byte?: string, hex?: string, decimal?: string) => {
    const point = unit ?? byte ?? hex
    const code = point === undefined ? Number(decimal) : Number.parseInt(point, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
  return Buffer.from(plain).toString('latin1')
}
