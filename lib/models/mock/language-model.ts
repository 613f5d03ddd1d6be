import { parseInstant } from '../../time/clock.js'
import { runInTurns, type Steps } from '../../concurrency/steps.js'
import { systemFlow } from '../../concurrency/system-flow.js'
import { stem } from '../../text/stems.js'
import { readMark } from '../../text/marks.js'
import { STOP_WORDS } from '../../text/stop-words.js'
import { sentenceSteps } from '../../text/sentences.js'
import { countSteps } from '../../text/tokens.js'
import { wordsInParts } from '../../text/words.js'
import type { Evidence, GenerateRequest, Generation, LanguageModel } from '../language-model.js'
import type { ModelStatus } from '../status.js'
import { orderContradictions, type DatedStatement, type Statement } from './contradictions.js'

/** Maximum number of sentences in an answer. */
const MAX_SENTENCES = 3
/** Sentences that are processed in one step. */
const SENTENCES_PER_STEP = 64
/** A pair of brackets that may be a mark, and an opening one that a later quotation could close. */
const BRACKETS = /[[【]([^[\]【】]*)[\]】]|【(?![^【】]*】)/g

interface Quote extends Statement {
  text: string
  /** Number of the evidence, from 1. */
  source: number
}

/**
 * Answers with sentences of the evidence, word for word, each with its citation, and needs no network. A mark inside a
 * sentence gets round brackets. It chooses the sentences that share the rarest terms with the question. Of sentences
 * that contradict each other the latest comes first, and each has its date after the citation: `Alice lives in Oslo.
 * [2] (2024-03-01) Alice lives in Lyon. [1] (earlier, 2019-05-04)`. A memory without a time of its own has the time
 * when it was stored: `(stored 2026-01-15)`.
 */
export class MockLanguageModel implements LanguageModel {
  readonly model = 'mock'
  /** It only quotes, so it cannot answer in JSON. */
  readonly structured = false

  async generate (request: GenerateRequest): Promise<Generation> {
    return await runInTurns(generation(request), systemFlow(`${this.model} ${request.tenantId ?? ''}`))
  }

  status (): ModelStatus {
    return { alwaysAvailable: true }
  }
}

function * generation ({ messages, grounding, maxTokens }: GenerateRequest): Steps<Generation> {
  const { text, isCut } = yield * answer(grounding.question, grounding.evidence, maxTokens)
  let inputTokens = 0
  for (const { content } of messages) inputTokens += yield * countSteps(content)
  const usage = { inputTokens, outputTokens: yield * countSteps(text) }
  return { text, usage, finish: isCut ? 'length' : 'stop' }
}

/** @returns the answer, and whether `maxTokens` left out a part of it */
function * answer (
  question: string, evidence: readonly Evidence[], maxTokens: number,
): Steps<{ text: string, isCut: boolean }> {
  const quotes: Quote[] = []
  for (const [index, { text, occurredAt, retainedAt }] of evidence.entries()) {
    for (const { start, end } of yield * sentenceSteps(text)) {
      const sentence = text.slice(start, end)
      quotes.push({
        text: asQuotation(sentence, evidence.length),
        source: index + 1,
        ...yield * readWords(sentence),
        instant: parseInstant(occurredAt ?? retainedAt) ?? null,
        isStoredAt: occurredAt === null,
      })
      yield
    }
  }
  const words = yield * readWords(question)
  const chosen = yield * choose([...new Set(words.contentTerms.length > 0 ? words.contentTerms : words.terms)], quotes)
  const parts: string[] = []
  let tokens = 0
  let isCut = false
  for (const placed of orderContradictions(chosen)) {
    const part = written(placed)
    const cost = (yield * countSteps(part, maxTokens)) + 1
    if (tokens + cost > maxTokens) {
      isCut = true
      if (parts.length === 0) parts.push(yield * shorten(placed.statement, maxTokens))
      break
    }
    parts.push(part)
    tokens += cost
  }
  return { text: parts.join(' '), isCut }
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

function * readWords (text: string): Steps<Pick<Statement, 'terms' | 'contentTerms'>> {
  const terms = new Set<string>()
  const contentTerms: string[] = []
  for (const part of wordsInParts(text)) {
    for (const word of part) {
      const isContent = !STOP_WORDS.has(word)
      const term = isContent ? stem(word) : word
      terms.add(term)
      if (isContent) contentTerms.push(term)
    }
    yield
  }
  return { terms, contentTerms }
}

function written ({ statement, date, earlier }: DatedStatement<Quote>): string {
  const cited = `${statement.text} [${statement.source}]`
  return date === null ? cited : `${cited} (${earlier ? 'earlier, ' : ''}${date})`
}

/** The best sentences, best first; ties go to the better evidence, then to the earlier sentence. */
function * choose (terms: readonly string[], quotes: readonly Quote[]): Steps<Quote[]> {
  const places = new Map(terms.map((term, place) => [term, place]))
  const frequencies = terms.map(() => 0)
  const shared: number[][] = []
  for (const quote of quotes) {
    const found: number[] = []
    for (const term of quote.terms) {
      const place = places.get(term)
      if (place === undefined) continue
      frequencies[place]! += 1
      found.push(place)
    }
    // The sum of floats depends on their order, and sentences that share the same words must tie.
    shared.push(found.sort((a, b) => a - b))
    if (shared.length % SENTENCES_PER_STEP === 0) yield
  }
  const weights = frequencies.map((frequency) => Math.log(1 + quotes.length / (frequency + 1)))
  let highest = -Infinity
  const scores: number[] = []
  for (const found of shared) {
    const score = found.reduce((sum, place) => sum + weights[place]!, 0)
    scores.push(score)
    highest = Math.max(highest, score)
    if (scores.length % SENTENCES_PER_STEP === 0) yield
  }
  // Below half of the best score a sentence is rarely about the question. Without any shared word, the best evidence is
  // quoted.
  return quotes
    .map((quote, index) => ({ quote, score: scores[index]! }))
    .filter(({ score }) => score >= highest / 2)
    .sort((a, b) => b.score - a.score)
    .slice(0, highest === 0 ? 1 : MAX_SENTENCES)
    .map(({ quote }) => quote)
}

/**
 * The longest beginning of the sentence within the limit: whole words, else characters, with its citation if that fits.
 */
function * shorten (quote: Quote, maxTokens: number): Steps<string> {
  const words = quote.text.split(/\s+/u)
  const characters = [...quote.text]
  const mark = ` … [${quote.source}]`
  return (yield * longest(words.length, maxTokens, (kept) => words.slice(0, kept).join(' ') + mark)) ??
    (yield * longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join('') + mark)) ??
    (yield * longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join(''))) ??
    '…'
}

/** @returns the text with the most pieces within the limit; undefined when not even one piece fits */
function * longest (pieces: number, maxTokens: number, cut: (kept: number) => string): Steps<string | undefined> {
  if ((yield * countSteps(cut(1), maxTokens)) > maxTokens) return undefined
  let low = 1
  let high = pieces
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((yield * countSteps(cut(middle), maxTokens)) <= maxTokens) low = middle
    else high = middle - 1
  }
  return cut(low)
}
