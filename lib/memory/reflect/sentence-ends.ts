// The characters and words that decide where a sentence ends.

/** Characters that end a sentence if white space follows. */
export const STOPS = new Set('.!?…؟۔।॥')
/** Characters that end a sentence in scripts without spaces between sentences. */
export const WIDE_STOPS = new Set('。！？｡')
/** Characters after the end of a sentence that still belong to it. */
export const CLOSERS = new Set('"\'”’»)*_`」』〉》）')
export const SPACE = /\s/
export const SMALL = /\p{Ll}/u
export const CAPITAL = /[\p{Lu}\p{Lo}]/u
export const DIGIT = /\d/
/** The number of a list item; its full stop does not end a sentence. */
export const LIST_NUMBER = /^[\s>]{0,40}\d{1,9}$/
/** The fence of a block of code. Its run is read whole: tried at each length, a line of tildes takes quadratic time. */
export const FENCE = /^\s*(?:>\s?)*(`{3,}(?!`)|~{3,}(?!~))([^`[\]]*)$/
const LAST_WORD = /(?:^|[^\p{L}\p{N}.])([\p{L}.]{1,10})$/u
const INITIALS = /^(?:\p{L}\.)*\p{L}$/u
const ABBREVIATIONS = new Set(`dr mr mrs ms prof st sr jr vs no nos fig eq sec vol ca cf approx dept est inc ltd co corp
gen sen rep rev hon etc al mme mlle nr bzw usw evtl ggf vgl abb hr fr pt sra dra ej núm pág`.split(/\s+/))

/** Number of UTF-16 units before a full stop that suffice to recognize an abbreviation. */
export const MAX_ABBREVIATION = 12

/** Whether the text before a full stop ends in a common abbreviation or an initial. */
export function endsInAbbreviation (text: string): boolean {
  const word = LAST_WORD.exec(text)?.[1]
  return word !== undefined && (INITIALS.test(word) || ABBREVIATIONS.has(word.toLowerCase()))
}
