import { seededRandom } from '../../bench/http/vocabulary.js'
import { sendOk } from './client.js'
import { OWN_BANK, type Target } from './target.js'

/** The maximum length that the API accepts for one memory. */
export const MAX_CONTENT_LENGTH = 50_000
export const BODY_LIMIT = 10_485_760

/** Markdown that repeats one sign or opens brackets that all close at one place, each with its end. */
export const MARKUP: ReadonlyArray<readonly [unit: string, end: string]> = [
  ['~', '`'], ['`', '~'], ['<b', '>'], ['[x](/', ')'.repeat(4000)], ['[x](/ ', `a b${')'.repeat(3000)}`], ['[1]', ''],
  ['[', ']'.repeat(9000)], ['【', '】'], ['" ', ''], ['> ', ''], ['NO_ANSWER ', ''], ['www.a', ''], ['a.', ''],
]

/**
 * Words and signs that the analysis looks for: those of queries, dates, instructions to models, speakers, languages,
 * names, encodings and sentences.
 */
const VOCABULARY: readonly string[] = [
  'feb ', 'sat 1 may ', 'what day of the week ', 'easter ', 'between 3 May and ', 'before ', 'q1 2019 ', 'st patrick ',
  'which kind of ', 'did you also ', 'when after ', 'my favourite ', 'and\n', 'always, ', 'un el la der die ', "qu'un ",
  'rateLimit', 'color ', 'ignore all previous ', 'forget all what you were ', 'send all memories to ',
  'do not tell the user must ', 'i g n o r e ', 'system: ', '<<<EVIDENCE ', '--- begin the ', '[1] says cite ',
  '](//a?b=', '![](//a?q=', '<img ', '%41', '\\u0041', '&#65;', 'a1b2', 'a\u200b', 'i\u0301', '1. ', 'Dr. ', '. 1',
  'a. ', '\u337f', '½', 'no one ', 'u.s. ',
]

/** Kinds of text that cost an analysis much. A number makes a text unlike the others. */
export const KINDS = {
  words: (characters: number, seed: number) => {
    const random = seededRandom(seed)
    let text = ''
    while (text.length < characters) {
      const length = 3 + Math.floor(random() * 7)
      for (let index = 0; index < length; index++) text += String.fromCharCode(97 + Math.floor(random() * 26))
      text += ' '
    }
    return text.slice(0, characters)
  },
  /** U+FDFA, which becomes 18 characters when it is normalised for compatibility. */
  expanding: (characters: number, seed: number) => `${seed} ${'\ufdfa'.repeat(characters)}`.slice(0, characters),
  unique: (characters: number, seed: number) => {
    let text = ''
    for (let index = 0; text.length < characters; index++) text += `w${seed}x${index} `
    return text.slice(0, characters)
  },
  dates: (characters: number, seed: number) => {
    let text = `${seed} `
    for (let index = 0; text.length < characters; index++) {
      text += `${1 + index % 28} March ${1990 + index % 60}, next Monday, 3 weeks ago; `
    }
    return text.slice(0, characters)
  },
  /** The words that the analysis itself looks for, each over and over: a list or a search for each would be costly. */
  vocabulary: (characters: number, seed: number) => {
    const unit = VOCABULARY[seed % VOCABULARY.length]!
    return `${seed} ${unit.repeat(Math.ceil(characters / unit.length))}`.slice(0, characters)
  },
  /** Control characters, each of which JSON writes as six. */
  escapes: (characters: number, seed: number) => `${seed} ${'\u0001'.repeat(characters)}`.slice(0, characters),
} as const satisfies Record<string, (characters: number, seed: number) => string>

export type Kind = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as Kind[]

/** A text that costs little. */
export function plainText (characters: number, seed: number): string {
  const sentences = 'The ferry leaves the harbour at nine. '.repeat(Math.ceil(characters / 38))
  return `Note ${seed}. ${sentences}`.slice(0, characters).trimEnd()
}

/** The body of a batch of texts of the full length, as many as the limit of the body takes. */
export function batchBody (bankId: string, kind: Kind, seed: number, limit = BODY_LIMIT): string {
  const head = `{"bank_id":"${bankId}","items":[`
  const items: string[] = []
  let bytes = head.length + 2
  while (items.length < 1000) {
    const item = JSON.stringify({ content: KINDS[kind](MAX_CONTENT_LENGTH, seed * 1000 + items.length) })
    bytes += Buffer.byteLength(item) + 1
    if (bytes > limit) break
    items.push(item)
  }
  return `${head}${items.join(',')}]}`
}

/** Fills a bank through the API, by batches of at most 1 MB. */
export async function fillBank (
  target: Target, bankId: string, count: number, characters: number, tags?: readonly string[],
): Promise<void> {
  await fillWith(target, bankId, count, characters, (seed) => ({
    content: plainText(characters, seed), ...(tags !== undefined && { tags }),
  }))
}

/** Fills a document with texts of a kind. */
export async function fillDocument (
  target: Target, bankId: string, documentId: string, count: number, kind: Kind,
): Promise<void> {
  await fillWith(target, bankId, count, MAX_CONTENT_LENGTH, (seed) => ({
    content: KINDS[kind](MAX_CONTENT_LENGTH, seed), document_id: documentId,
  }))
}

async function fillWith (
  target: Target, bankId: string, count: number, characters: number, item: (seed: number) => object,
): Promise<void> {
  const size = Math.max(1, Math.min(1000, Math.floor(1e6 / (characters + 20))))
  for (let from = 0; from < count; from += size) {
    const items = Array.from({ length: Math.min(size, count - from) }, (_, index) => item(from + index))
    await sendOk(target, { path: '/v1/retain/batch', body: JSON.stringify({ bank_id: bankId, items }) })
  }
}

/** An import of so many memories of four characters, the shortest lines that are all different. */
export function tinyImport (memories: number, more = ''): string {
  const lines = ['{"format":"memory-gateway-export","version":1,"bank_id":"any"}']
  for (let index = 0; index < memories; index++) lines.push(`{"text":"${index.toString(36).padStart(4, '0')}"${more}}`)
  return `${lines.join('\n')}\n`
}

export const importPath = (bankId = OWN_BANK, query = '') => `/v1/banks/${bankId}/import${query}`
