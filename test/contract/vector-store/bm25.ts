import {
  endsAsQuestion, lengthNorm, MIN_NOTES, NOTES_QUESTIONS, poolSize, WINDOW_REACH, WITHOUT_DOCUMENT, WITHOUT_OWN_TERMS,
  sequenceInstant, neighbourWeight, toScore,
} from '../../../lib/stores/context.js'
import type { LexicalRequest, NewMemory, Passage } from '../../../lib/stores/vector-store.js'
import { dayOf } from '../../../lib/base/days.js'

export interface Scored {
  memoryId: string
  score: number
  /** By the words of the memory alone. */
  own: number
  /** Scores of the passages that hold a term, best first; empty for a memory of one passage. */
  passages: number[]
}

export interface Reference {
  /** Falling, ties by id. */
  found: Scored[]
  total: number
  /** Of every memory: of a candidate with its context, of any other by itself. */
  scores: ReadonlyMap<string, Scored>
}

export interface ReferenceOptions {
  limit?: number
  /** The filters. Default: all pass. */
  passes?: (memory: NewMemory) => boolean
}

/** What scored in for a memory: the counts, the norm and the score of its best passage. */
interface ScoredMemory {
  memory: NewMemory
  terms: ReadonlyMap<string, number>
  length: number
  norm: number
  own: number
  passages: number[]
}

/**
 * The lexical strategy over one bank straight from its definition (lib/stores/context.ts). Slow, and so plain that it
 * can be checked by reading.
 * @param memories those that are live
 */
export function referenceSearch (
  memories: readonly NewMemory[], request: LexicalRequest, { limit = 1000, passes = () => true }: ReferenceOptions = {},
): Reference {
  const { terms, k1, length, context } = request
  const all = memories.flatMap(({ passages }) => passages)
  const average = mean(all)
  const idf = new Map(terms.map((term) => {
    const frequency = all.filter((passage) => passage.terms.has(term)).length
    return [term, Math.log(1 + (all.length - frequency + 0.5) / (frequency + 0.5))]
  }))
  const attainable = sum([...idf.values()].map((weight) => weight * (k1 + 1)))
  const scoreOf = (weightOf: (term: string) => number, norm: number, factor = 1) => toScore(factor * sum(terms.map(
    (term) => {
      const weight = weightOf(term)
      return weight === 0 ? 0 : idf.get(term)! * (k1 + 1) * weight / (weight + k1 * norm)
    },
  )) / attainable)

  const ownScore = (counts: ReadonlyMap<string, number>, norm: number) => scoreOf((term) => counts.get(term) ?? 0, norm)

  const scored = memories.map((memory): ScoredMemory => {
    const scored = memory.passages.map((passage) => {
      const norm = lengthNorm(passage.length, length, average)
      return { terms: passage.terms, length: passage.length, own: ownScore(passage.terms, norm) }
    })
    const own = Math.max(...scored.map((passage) => passage.own))
    const best = own > 0
      ? scored.find((passage) => passage.own === own)!
      : { terms: new Map(), length: mean(memory.passages), own: 0 }
    return {
      memory,
      ...best,
      norm: lengthNorm(best.length, length, average),
      passages: scored.map((passage) => passage.own).filter((score) => score > 0).sort((x, y) => y - x),
    }
  })
  const matching =
    scored.filter(({ own }) => own > 0).sort((x, y) => y.own - x.own || compare(x.memory.memoryId, y.memory.memoryId))
  const pool = new Set([
    ...matching.slice(0, poolSize(limit)),
    ...matching.filter(({ memory }) => passes(memory)).slice(0, poolSize(limit)),
  ])

  if (context && 'pivot' in length && length.notesPivot !== undefined && areNotes([...pool])) {
    const notes = { pivot: length.notesPivot }
    const candidates = new Set([...pool].flatMap((stand) => windowOf(stand, scored)))
    for (const stand of candidates) {
      stand.norm = lengthNorm(stand.length, notes, average)
      stand.own = ownScore(stand.terms, stand.norm)
    }
  }

  const windows = [...pool].map((stand) => context ? windowOf(stand, scored) : [stand])
  const candidates = new Set(windows.flat())
  const answers = new Set<ScoredMemory>()
  const scores = new Map([...candidates].map((stand): [string, Scored] => {
    const loans = new Map<ScoredMemory, number>()
    for (const window of windows.filter((window) => window.includes(stand))) {
      for (const lender of window) {
        const places = window.indexOf(lender) - window.indexOf(stand)
        if (places === 0 || Math.abs(places) > WINDOW_REACH) continue
        if (places === -1 && lender.own > 0 && endsAsQuestion(lender.memory.passages)) answers.add(stand)
        loans.set(lender, neighbourWeight(
          places, endsAsQuestion(lender.memory.passages), endsAsQuestion(stand.memory.passages),
        ) * (lender.memory.documentId === null ? WITHOUT_DOCUMENT : 1) / lender.norm)
      }
    }
    const score = scoreOf((term) => {
      const count = stand.terms.get(term) ?? 0
      if (stand.memory.documentId === null && count > 0) return count
      return count + sum([...loans].map(([lender, loan]) => loan * (lender.terms.get(term) ?? 0)))
    }, stand.norm, stand.own > 0 || answers.has(stand) ? 1 : WITHOUT_OWN_TERMS)
    const { memory: { memoryId }, own } = stand
    return [memoryId, { memoryId, score, own, passages: shownPassages(stand, score) }]
  }))
  for (const stand of scored) {
    const { memory: { memoryId }, own } = stand
    if (!scores.has(memoryId)) scores.set(memoryId, { memoryId, score: own, own, passages: shownPassages(stand, own) })
  }
  const found = [...candidates].filter(({ memory }) => passes(memory))
    .filter((stand) => stand.memory.documentId !== null || stand.own > 0 || answers.has(stand))
    .map(({ memory }) => scores.get(memory.memoryId)!)
    .filter(({ score }) => score > 0)
  return {
    found: found.sort((x, y) => y.score - x.score || compare(x.memoryId, y.memoryId)).slice(0, limit),
    total: matching.filter(({ memory }) => passes(memory)).length + found.filter(({ own }) => own === 0).length,
    scores,
  }
}

function areNotes (pool: readonly ScoredMemory[]): boolean {
  const questions = pool.filter(({ memory }) => endsAsQuestion(memory.passages)).length
  return pool.length >= MIN_NOTES && questions / pool.length < NOTES_QUESTIONS / 100 && !pool.some(
    ({ memory: { metadata: { speaker, role } } }) => /^"(assistant|ai|bot|chatbot|model|agent)"$/i.test(
      JSON.stringify(speaker ?? role ?? null),
    ),
  )
}

/** A memory with its neighbours, in order. */
function windowOf (stand: ScoredMemory, scored: readonly ScoredMemory[]): ScoredMemory[] {
  const { documentId } = stand.memory
  const day = ({ memory }: ScoredMemory) => dayOf(sequenceInstant(memory))
  const sequence = scored.filter(({ memory }) => memory.documentId === documentId)
    .filter((other) => documentId !== null || day(other) === day(stand))
    .sort((x, y) => sequenceInstant(x.memory) - sequenceInstant(y.memory) ||
      compare(x.memory.memoryId, y.memory.memoryId))
  const place = sequence.indexOf(stand)
  return sequence.slice(Math.max(0, place - WINDOW_REACH), place + WINDOW_REACH + 1)
}

function shownPassages ({ memory, passages }: Pick<ScoredMemory, 'memory' | 'passages'>, score: number): number[] {
  if (memory.passages.length === 1) return []
  return passages.length > 0 ? passages : [score]
}

function mean (passages: readonly Passage[]): number {
  return sum(passages.map(({ length }) => length)) / passages.length
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function compare (x: string, y: string): number {
  return x < y ? -1 : x > y ? 1 : 0
}
