import { bankKeyString } from '../../identity/context.js'
import { atOnce, type Steps } from '../../steps.js'
import type { Candidate, CandidateScores, Memory } from '../../stores/vector-store.js'
import type { Question } from './question.js'
import { daysFrom } from './dates.js'
import { SCORER_NAMES, SCORERS, type Prospect, type ScorerName, type ScorerWeights } from './scorers.js'
import type { Signals, SignalReader } from './signals.js'

/** Candidates of a document that count for it, the better the more. */
const DOCUMENT_DEPTH = 5

/** What each scorer gives a candidate, by name, before its weight. */
export type Judgement = Record<ScorerName, number>

/**
 * Makes of candidates what the scorers look at.
 * @param candidates each memory once
 */
export function prospects (candidates: readonly Candidate[], question: Question, reader: SignalReader): Prospect[] {
  return atOnce(prospectSteps(candidates, question, reader))
}

/** prospects in steps. */
export function * prospectSteps (candidates: readonly Candidate[], question: Question, reader: SignalReader): Steps<Prospect[]> {
  const best = bestScores(candidates)
  const read: Signals[] = []
  for (const { memory } of candidates) {
    yield
    read.push(reader.read(memory))
  }
  const asked = askedSpeaker(read, question)
  yield
  const documents = documentShares(candidates)
  const prospects: Prospect[] = []
  for (const [index, { memory, scores }] of candidates.entries()) {
    yield
    const signals = read[index]!
    prospects.push({ memory, scores, signals, best, document: documents[index]!, daysAway: daysAway(memory, signals, question), asked: asked !== undefined && signals.speaker.join(' ') === asked })
  }
  return prospects
}

/** The weighted sum of what the scorers give. */
export function judge (prospect: Prospect, question: Question, weights: ScorerWeights): number {
  let sum = 0
  for (const name of SCORER_NAMES) {
    const weight = weights[name]
    if (weight !== 0) sum += weight * SCORERS[name](prospect, question)
  }
  return sum
}

export function judgement (prospect: Prospect, question: Question): Judgement {
  return Object.fromEntries(SCORER_NAMES.map((name) => [name, SCORERS[name](prospect, question)])) as Judgement
}

function bestScores (candidates: readonly Candidate[]): Required<CandidateScores> {
  const best = { lexical: Number.MIN_VALUE, own: Number.MIN_VALUE, semantic: Number.MIN_VALUE }
  for (const { scores: { lexical = 0, own = 0, semantic = 0 } } of candidates) {
    if (lexical > best.lexical) best.lexical = lexical
    if (own > best.own) best.own = own
    if (semantic > best.semantic) best.semantic = semantic
  }
  return best
}

/** @returns the speaker whom the question names, if there is just one such among those who speak */
function askedSpeaker (read: readonly Signals[], { stems }: Question): string | undefined {
  const named = new Set(stems)
  const seen = new Set<string>()
  let asked: string | undefined
  for (const { speaker } of read) {
    if (speaker.length === 0) continue
    const name = speaker.join(' ')
    if (seen.has(name)) continue
    seen.add(name)
    if (!speaker.some((word) => named.has(word))) continue
    if (asked !== undefined) return undefined
    asked = name
  }
  return asked
}

/** For each candidate, what its document has. A memory without one stands for itself. */
function documentShares (candidates: readonly Candidate[]): Array<Prospect['document']> {
  interface Document { scores: number[], cosines: number[], own: number, together: number, meaning: number }
  const documents = new Map<string, Document>()
  const all: Document[] = []
  const of = candidates.map((candidate) => {
    const { lexical = 0, own = 0, semantic = 0 } = candidate.scores
    const key = candidate.memory.documentId === null ? undefined : documentKey(candidate)
    let document = key === undefined ? undefined : documents.get(key)
    if (document === undefined) {
      document = { scores: [], cosines: [], own: 0, together: 0, meaning: 0 }
      all.push(document)
      if (key !== undefined) documents.set(key, document)
    }
    document.scores.push(lexical)
    document.cosines.push(semantic)
    if (own > document.own) document.own = own
    return document
  })
  let most = Number.MIN_VALUE
  let mostOwn = Number.MIN_VALUE
  let mostMeaning = Number.MIN_VALUE
  for (const document of all) {
    document.together = discounted(document.scores)
    document.meaning = discounted(document.cosines)
    if (document.together > most) most = document.together
    if (document.own > mostOwn) mostOwn = document.own
    if (document.meaning > mostMeaning) mostMeaning = document.meaning
  }
  return of.map(({ together, own, meaning }) => ({ together: together / most, best: own / mostOwn, meaning: meaning / mostMeaning }))
}

/** The best few together, each the less the further down. */
function discounted (scores: number[]): number {
  if (scores.length === 1) return scores[0]!
  return scores.sort((a, b) => b - a).slice(0, DOCUMENT_DEPTH).reduce((sum, score, rank) => sum + score / (rank + 1), 0)
}

function daysAway ({ occurredAt }: Memory, signals: Signals, { spans }: Question): number {
  if (spans.length === 0) return Infinity
  const told = signals.told.map(({ from }) => daysFrom(spans, from))
  return Math.min(occurredAt === null ? Infinity : daysFrom(spans, occurredAt), ...told)
}

/** What tells a candidate's document from all others; a memory without one is its own. */
export function documentKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.documentId === null ? `m${memory.memoryId}` : `d${memory.documentId}`}`
}
