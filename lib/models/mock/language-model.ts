import { parseInstant } from '../../clock.js'
import { analyzeQuery, analyzeText, tellingStems } from '../../text/analysis.js'
import { sentences } from '../../text/sentences.js'
import { countTokens } from '../../text/tokens.js'
import { promptTokens } from '../prompt-tokens.js'
import type { Evidence, GenerateRequest, Generation, LanguageModel } from '../language-model.js'
import type { ModelStatus } from '../status.js'
import { placeContradictions, type Placed, type Statement } from './contradictions.js'

/** Sentences in an answer at most: what a reader takes in at a glance. */
const MAX_SENTENCES = 3

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

  async generate ({ messages, grounding, maxTokens }: GenerateRequest): Promise<Generation> {
    const text = answer(grounding.question, grounding.evidence, maxTokens)
    return {
      text,
      usage: {
        inputTokens: promptTokens(messages),
        outputTokens: countTokens(text),
      },
    }
  }

  status (): ModelStatus {
    return { asksNobody: true }
  }
}

function answer (question: string, evidence: readonly Evidence[], maxTokens: number): string {
  const quotes = evidence.flatMap(({ text, occurredAt }, index) => sentences(text).map(({ start, end }): Quote => {
    const sentence = text.slice(start, end)
    return {
      text: sentence,
      source: index + 1,
      terms: new Set(analyzeText(sentence).terms.keys()),
      telling: tellingStems(sentence),
      occurredAt: occurredAt === null ? null : parseInstant(occurredAt) ?? null,
    }
  }))
  const chosen = choose(analyzeQuery(question), quotes)
  const parts: string[] = []
  let tokens = 0
  for (const placed of placeContradictions(chosen)) {
    const part = written(placed)
    const cost = countTokens(part) + 1
    if (tokens + cost > maxTokens) {
      if (parts.length === 0) parts.push(shorten(placed.statement, maxTokens))
      break
    }
    parts.push(part)
    tokens += cost
  }
  return parts.join(' ')
}

function written ({ statement, date, earlier }: Placed<Quote>): string {
  const cited = `${statement.text} [${statement.source}]`
  return date === null ? cited : `${cited} (${earlier ? 'earlier, ' : ''}${date})`
}

/** The best sentences, best first; ties go to the better evidence, then to the earlier sentence. */
function choose (terms: readonly string[], quotes: readonly Quote[]): Quote[] {
  const weights = new Map(terms.map((term) => {
    const frequency = quotes.filter((quote) => quote.terms.has(term)).length
    return [term, Math.log(1 + quotes.length / (frequency + 1))]
  }))
  const scored = quotes.map((quote) => ({ quote, score: terms.reduce((sum, term) => sum + (quote.terms.has(term) ? weights.get(term)! : 0), 0) }))
  const highest = Math.max(...scored.map(({ score }) => score))
  // Half of the best is where a sentence stops being about the question. With no shared word at all, the best evidence speaks first.
  return scored
    .filter(({ score }) => score >= highest / 2)
    .sort((a, b) => b.score - a.score)
    .slice(0, highest === 0 ? 1 : MAX_SENTENCES)
    .map(({ quote }) => quote)
}

/** As much of the sentence as fits: whole words, else whole characters, and its mark if there is room. Never more than the ceiling. */
function shorten (quote: Quote, maxTokens: number): string {
  const words = quote.text.split(/\s+/u)
  const characters = [...quote.text]
  const mark = ` … [${quote.source}]`
  return longest(words.length, maxTokens, (kept) => words.slice(0, kept).join(' ') + mark) ??
    longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join('') + mark) ??
    longest(characters.length, maxTokens, (kept) => characters.slice(0, kept).join('')) ??
    '…'
}

/** @returns the cut that keeps the most pieces within the ceiling; undefined when not even one piece fits */
function longest (pieces: number, maxTokens: number, cut: (kept: number) => string): string | undefined {
  const fits = (kept: number) => countTokens(cut(kept)) <= maxTokens
  if (!fits(1)) return undefined
  let low = 1
  let high = pieces
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return cut(low)
}
