import { parseInstant } from '../../time/clock.js'
import { inTurns, type Steps } from '../../concurrency/steps.js'
import { stem } from '../../text/stems.js'
import { STOP_WORDS } from '../../text/stop-words.js'
import { sentenceSteps } from '../../text/sentences.js'
import { countSteps } from '../../text/tokens.js'
import { wordsInParts } from '../../text/words.js'
import type { Evidence, GenerateRequest, Generation, LanguageModel } from '../language-model.js'
import type { ModelStatus } from '../status.js'
import { placeContradictions, type Placed, type Statement } from './contradictions.js'

/** Sentences in an answer at most: what a reader takes in at a glance. */
const MAX_SENTENCES = 3
/** Sentences and terms that are gone through in a step. */
const TOGETHER = 64

interface Quote extends Statement {
  text: string
  /** Number of the evidence, from 1. */
  source: number
}

/**
 * Answers with sentences of the evidence, word for word, each with its mark; it invents nothing and needs no network.
 * The sentences are those that share the rarest terms with the question. Of sentences that contradict each other the latest stands first,
 * and each is dated behind its mark: `Alice lives in Oslo. [2] (2024-03-01) Alice lives in Lyon. [1] (earlier, 2019-05-04)`.
 */
export class MockLanguageModel implements LanguageModel {
  readonly model = 'mock'
  /** It quotes; it cannot fill in a form. */
  readonly structured = false

  async generate (request: GenerateRequest): Promise<Generation> {
    return await inTurns(generation(request), `${this.model} ${request.tenantId ?? ''}`)
  }

  status (): ModelStatus {
    return { asksNobody: true }
  }
}

function * generation ({ messages, grounding, maxTokens }: GenerateRequest): Steps<Generation> {
  const text = yield * answer(grounding.question, grounding.evidence, maxTokens)
  let inputTokens = 0
  for (const { content } of messages) inputTokens += yield * countSteps(content)
  return { text, usage: { inputTokens, outputTokens: yield * countSteps(text) } }
}

function * answer (question: string, evidence: readonly Evidence[], maxTokens: number): Steps<string> {
  const quotes: Quote[] = []
  for (const [index, { text, occurredAt }] of evidence.entries()) {
    for (const { start, end } of yield * sentenceSteps(text)) {
      const sentence = text.slice(start, end)
      quotes.push({
        text: sentence,
        source: index + 1,
        ...yield * readWords(sentence),
        occurredAt: occurredAt === null ? null : parseInstant(occurredAt) ?? null,
      })
      yield
    }
  }
  const asked = yield * readWords(question)
  const chosen = yield * choose([...new Set(asked.telling.length > 0 ? asked.telling : asked.terms)], quotes)
  const parts: string[] = []
  let tokens = 0
  for (const placed of placeContradictions(chosen)) {
    const part = written(placed)
    const cost = (yield * countSteps(part, maxTokens)) + 1
    if (tokens + cost > maxTokens) {
      if (parts.length === 0) parts.push(yield * shorten(placed.statement, maxTokens))
      break
    }
    parts.push(part)
    tokens += cost
  }
  return parts.join(' ')
}

function * readWords (text: string): Steps<Pick<Statement, 'terms' | 'telling'>> {
  const terms = new Set<string>()
  const telling: string[] = []
  for (const part of wordsInParts(text)) {
    for (const word of part) {
      const isTelling = !STOP_WORDS.has(word)
      const term = isTelling ? stem(word) : word
      terms.add(term)
      if (isTelling) telling.push(term)
    }
    yield
  }
  return { terms, telling }
}

function written ({ statement, date, earlier }: Placed<Quote>): string {
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
    // Sums of fractions depend on their order, and sentences that share the same words are to tie.
    shared.push(found.sort((a, b) => a - b))
    if (shared.length % TOGETHER === 0) yield
  }
  const weights = frequencies.map((frequency) => Math.log(1 + quotes.length / (frequency + 1)))
  let highest = -Infinity
  const scores: number[] = []
  for (const found of shared) {
    const score = found.reduce((sum, place) => sum + weights[place]!, 0)
    scores.push(score)
    highest = Math.max(highest, score)
    if (scores.length % TOGETHER === 0) yield
  }
  // Half of the best is where a sentence stops being about the question. With no shared word at all, the best evidence speaks first.
  return quotes
    .map((quote, index) => ({ quote, score: scores[index]! }))
    .filter(({ score }) => score >= highest / 2)
    .sort((a, b) => b.score - a.score)
    .slice(0, highest === 0 ? 1 : MAX_SENTENCES)
    .map(({ quote }) => quote)
}

/** As much of the sentence as fits: whole words, else whole characters, and its mark if there is room. Never more than the ceiling. */
function * shorten (quote: Quote, maxTokens: number): Steps<string> {
  const words = quote.text.split(/\s+/u)
  const characters = [...quote.text]
  const mark = ` … [${quote.source}]`
  return (yield * longest(words.length, maxTokens, (kept) => words.slice(0, kept).join(' ') + mark)) ??
    (yield * longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join('') + mark)) ??
    (yield * longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join(''))) ??
    '…'
}

/** @returns the cut that keeps the most pieces within the ceiling; undefined when not even one piece fits */
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
