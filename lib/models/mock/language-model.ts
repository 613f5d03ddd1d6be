import { choose, type Quoted } from '../../answering/choice.js'
import { NO_ANSWER, readMark } from '../../answering/marks.js'
import { formatDate, mentionsRelativeTime, resolvedTimes } from '../../answering/relative-times.js'
import { statementsIn, type Told } from '../../answering/statements.js'
import { countTokens } from '../../text/tokens.js'
import type { ModelStatus } from '../health.js'
import type { GenerateRequest, Generation, LanguageModel } from '../language-model.js'

/** A pair of brackets that may be a mark, and an opening one that a later quotation could close. */
const BRACKETS = /[[【]([^[\]【】]*)[\]】]|【(?![^【】]*】)/g

const ROLES: ReadonlyMap<string, string> = new Map([['user', 'User'], ['assistant', 'Assistant']])

/** Sentences of one memory that stand together in the answer. */
interface Quotation {
  readonly told: Told
  readonly isEarlier: boolean
  text: string
  last: number
}

/**
 * Answers with sentences of the evidence, word for word, each with who said it, when, and its citation, and needs no
 * network: `Melanie, 17 July 2023: "We went camping last month." (last month: June 2023) [2]`. It chooses at most three
 * sentences that answer the question and leaves out greetings, reactions and questions. Of statements that differ the
 * latest comes first and the others follow as `Earlier: …`. A mark inside a sentence gets round brackets. When the
 * evidence does not answer the question, it abstains.
 */
export class MockLanguageModel implements LanguageModel {
  readonly model = 'mock'
  /** It only quotes, so it cannot answer in JSON. */
  readonly structured = false

  async generate (request: GenerateRequest): Promise<Generation> {
    return await generation(request)
  }

  status (): ModelStatus {
    return { alwaysAvailable: true }
  }
}

async function generation ({ messages, grounding, maxTokens }: GenerateRequest): Promise<Generation> {
  const { text, isCut } = await answer(grounding, maxTokens)
  let inputTokens = 0
  for (const { content } of messages) inputTokens += countTokens(content)
  const usage = { inputTokens, outputTokens: countTokens(text) }
  return { text, usage, finish: isCut ? 'length' : 'stop' }
}

/** @returns the answer, and whether `maxTokens` left out a part of it */
async function answer (
  { question, evidence }: GenerateRequest['grounding'], maxTokens: number,
): Promise<{ text: string, isCut: boolean }> {
  const quotations = quotationsOf(await choose(question, await statementsIn(evidence)), evidence.length)
  if (quotations.length === 0) return { text: NO_ANSWER, isCut: false }
  const days = new Set(quotations.map(({ told: { instant } }) => instant === null ? '' : formatDate(instant)))
  const parts: string[] = []
  let tokens = 0
  for (const quotation of quotations) {
    const part = written(quotation, days.size > 1)
    const cost = countTokens(part, maxTokens) + 1
    if (tokens + cost > maxTokens) {
      if (parts.length === 0) parts.push(shorten(quotation, maxTokens))
      return { text: parts.join('\n'), isCut: true }
    }
    parts.push(part)
    tokens += cost
  }
  return { text: parts.join('\n'), isCut: false }
}

/** Joins the sentences of a memory, in the order of its text, where the first of them stands. */
function quotationsOf (quoted: readonly Quoted[], sources: number): Quotation[] {
  const quotations: Quotation[] = []
  for (const { statement: { told }, isEarlier } of quoted) {
    if (quotations.some((known) => known.told === told)) continue
    const sentences = quoted.filter(({ statement }) => statement.told === told)
      .map(({ statement }) => statement).sort((a, b) => a.place - b.place)
    const quotation: Quotation = { told, isEarlier, text: '', last: NaN }
    for (const { text, place } of sentences) {
      const gap = quotation.text === '' ? '' : place === quotation.last + 1 ? ' ' : ' … '
      quotation.text += gap + asQuotation(text, sources)
      quotation.last = place
    }
    quotations.push(quotation)
  }
  return quotations
}

/** A sentence in which nothing is read as a mark, which would cite another memory, or as an abstention. */
function asQuotation (sentence: string, sources: number): string {
  return sentence
    .replace(BRACKETS, (whole, inside?: string) => {
      if (inside === undefined) return '('
      return readMark(inside, sources) === undefined ? whole : `(${inside})`
    })
    .replace(/(no)_(answer)/gi, '$1 $2')
}

/** @param haveSeveralDays whether memories of several days are quoted, so that their time tells them apart */
function written ({ told, isEarlier, text }: Quotation, haveSeveralDays: boolean): string {
  const begin = `${isEarlier || told.isSuperseded ? 'Earlier: ' : ''}${introduction(told, text, haveSeveralDays)}`
  return `${begin}"${text}"${resolved(told, text)} [${told.source}]`
}

/** Who said it and when: `Melanie, 17 July 2023: `. A time of storage is told only where it matters. */
function introduction ({ speaker, instant, isStoredAt }: Told, text: string, haveSeveralDays: boolean): string {
  const parts = speaker === null ? [] : [ROLES.get(speaker) ?? speaker]
  if (instant !== null && (!isStoredAt || haveSeveralDays || mentionsRelativeTime(text))) {
    const stored = speaker === null ? 'Stored' : 'stored'
    parts.push(isStoredAt ? `${stored} ${formatDate(instant)}` : formatDate(instant))
  }
  return parts.length === 0 ? '' : `${parts.join(', ')}: `
}

/** When a memory has a time of its own, what its relative times mean. */
function resolved ({ instant, isStoredAt }: Told, text: string): string {
  if (instant === null || isStoredAt) return ''
  const times = resolvedTimes(text, instant).map(({ words, means }) => `${words}: ${means}`)
  return times.length === 0 ? '' : ` (${times.join('; ')})`
}

/**
 * The longest beginning of the sentence within the limit: whole words, else characters, with its citation if that fits.
 */
function shorten (quote: Quotation, maxTokens: number): string {
  const words = quote.text.split(/\s+/u)
  const characters = [...quote.text]
  const mark = ` …" [${quote.told.source}]`
  return longest(words.length, maxTokens, (kept) => '"' + words.slice(0, kept).join(' ') + mark) ??
    longest(characters.length, maxTokens, (kept) => '"' + characters.slice(0, kept).join('') + mark) ??
    longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join('')) ??
    '…'
}

/** @returns the text with the most pieces within the limit; undefined when not even one piece fits */
function longest (pieces: number, maxTokens: number, cut: (kept: number) => string): string | undefined {
  if (countTokens(cut(1), maxTokens) > maxTokens) return undefined
  let low = 1
  let high = pieces
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (countTokens(cut(middle), maxTokens) <= maxTokens) low = middle
    else high = middle - 1
  }
  return cut(low)
}
