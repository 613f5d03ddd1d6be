/** A character that a user would not see, or that would change the direction of the text. */
export interface HiddenCharacter {
  /** A short text that is shown in its place. */
  label: string
  /** For screen readers and on hover. */
  name: string
}

export type TextPart = string | HiddenCharacter

// Default-ignorable, control, format and private-use characters, line and paragraph separators, and surrogates.
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u
/** Joiners and the first variation selectors belong to the preceding character if that combines with them. */
const JOINER = /^[\u200c\u200d]$/
const SELECTOR = /^[\ufe00-\ufe0f]$/
const TAKES_JOINER = new RegExp([
  ...['Arab', 'Beng', 'Deva', 'Gujr', 'Guru', 'Khmr', 'Knda', 'Mlym', 'Mong', 'Mymr', 'Nkoo', 'Orya', 'Sinh', 'Syrc',
    'Taml', 'Telu', 'Tibt'].map((script) => `\\p{scx=${script}}`),
  '\\p{Extended_Pictographic}', '\\p{EMod}', '\\ufe0f',
].join('|'), 'u')
const TAKES_SELECTOR = /[\p{L}\p{N}\p{S}\p{P}]/u
const MARK = /\p{M}/u
/** No script puts more combining marks on a letter; a stack of them would cover the neighbouring lines. */
const MAX_MARKS = 4

const NAMES: Readonly<Record<number, [label: string, name: string]>> = {
  0x00: ['NUL', 'null'],
  0x08: ['BS', 'backspace'],
  0x0d: ['CR', 'carriage return'],
  0x1b: ['ESC', 'escape'],
  0x7f: ['DEL', 'delete'],
  0xad: ['SHY', 'soft hyphen'],
  0x061c: ['ALM', 'Arabic letter mark'],
  0x200b: ['ZWSP', 'zero-width space'],
  0x200c: ['ZWNJ', 'zero-width non-joiner'],
  0x200d: ['ZWJ', 'zero-width joiner'],
  0x200e: ['LRM', 'left-to-right mark'],
  0x200f: ['RLM', 'right-to-left mark'],
  0x2028: ['LS', 'line separator'],
  0x2029: ['PS', 'paragraph separator'],
  0x202a: ['LRE', 'left-to-right embedding'],
  0x202b: ['RLE', 'right-to-left embedding'],
  0x202c: ['PDF', 'end of embedding or override'],
  0x202d: ['LRO', 'left-to-right override'],
  0x202e: ['RLO', 'right-to-left override'],
  0x2060: ['WJ', 'word joiner'],
  0x2066: ['LRI', 'left-to-right isolate'],
  0x2067: ['RLI', 'right-to-left isolate'],
  0x2068: ['FSI', 'first strong isolate'],
  0x2069: ['PDI', 'end of isolate'],
  0xfeff: ['BOM', 'zero-width no-break space'],
}

/** Splits a text into parts that can be shown unchanged and hidden characters with their names. */
export function textPartsOf (text: string): TextPart[] {
  // CR LF is a line end.
  const source = text.replaceAll('\r\n', '\n')
  const parts: TextPart[] = []
  let plain = ''
  let last = ''
  let marks = 0
  let dropped = 0
  const flush = () => {
    if (plain !== '') parts.push(plain)
    plain = ''
    if (dropped > 0) parts.push({ label: `+${dropped}`, name: `${dropped} more combining marks` })
    dropped = 0
  }
  for (const character of source) {
    if (isHidden(character, last)) {
      flush()
      parts.push(nameOf(character))
    } else {
      marks = MARK.test(character) && !SELECTOR.test(character) ? marks + 1 : 0
      if (marks > MAX_MARKS) {
        dropped++
        continue
      }
      if (dropped > 0) flush()
      plain += character
    }
    last = character
  }
  flush()
  return parts
}

function isHidden (character: string, last: string): boolean {
  if (character === '\n' || character === '\t') return false
  if (JOINER.test(character)) return !TAKES_JOINER.test(last)
  if (SELECTOR.test(character)) return !TAKES_SELECTOR.test(last)
  return HIDDEN.test(character)
}

function nameOf (character: string): HiddenCharacter {
  const code = character.codePointAt(0) ?? 0
  const point = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const [label, name] = NAMES[code] ?? [
    point, code >= 0xe0000 && code <= 0xe007f ? 'tag character' : 'invisible character',
  ]
  return { label, name: `${point} ${name}` }
}

/** The first characters of a text; a surrogate pair is never split. */
export function firstCharacters (text: string, count: number): string {
  if (text.length <= count) return text
  const cut = text.slice(0, count)
  const code = cut.charCodeAt(count - 1)
  return code >= 0xd800 && code <= 0xdbff ? cut.slice(0, -1) : cut
}
