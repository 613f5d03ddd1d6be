import { seededRandom } from '../../bench/http/vocabulary.js'
import { sendOk } from './client.js'
import { OWN_BANK, type Target } from './target.js'

/** The maximum length that the API accepts for one memory. */
export const MAX_CONTENT_LENGTH = 50_000
export const BODY_LIMIT = 10_485_760

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
} as const satisfies Record<string, (characters: number, seed: number) => string>

export type Kind = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as Kind[]

/** A text that costs little. */
export function plainText (characters: number, seed: number): string {
  return `Note ${seed}. ${'The ferry leaves the harbour at nine. '.repeat(Math.ceil(characters / 38))}`.slice(0, characters).trimEnd()
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
  const size = Math.max(1, Math.min(1000, Math.floor(1e6 / (characters + 20))))
  for (let from = 0; from < count; from += size) {
    const items = Array.from({ length: Math.min(size, count - from) }, (_, index) => ({
      content: plainText(characters, from + index), ...(tags !== undefined && { tags }),
    }))
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
