import { giveWay, isDue } from '../concurrency/event-loop.js'
import { NAME_BEFORE_TEXT } from '../retrieval/scoring/signals.js'
import { otherForms } from '../text/alternative-terms.js'
import { sentencesOf } from '../text/sentences.js'
import { stem } from '../text/stems.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { words } from '../text/words.js'
import { parseInstant } from '../time/clock.js'
import type { Evidence } from '../models/language-model.js'
import { speakerKey } from './asked.js'
import { mattersOf } from './matters.js'
import { tellsSomething, withoutOpening } from './small-talk.js'

/** A memory of the evidence. */
export interface Told {
  /** Number of the evidence, from 1. */
  readonly source: number
  /** As it is shown; null when nobody is stated. */
  readonly speaker: string | null
  /** As in `speakerKey`; empty when nobody is stated. */
  readonly speakerKey: string
  /** Milliseconds since the epoch; null when unknown. */
  readonly instant: number | null
  /** Whether `instant` is when the memory was stored, because it has no time of its own. */
  readonly isStoredAt: boolean
  /** How well recall ranked it, from 0 to 1. */
  readonly score: number
  /** The cosine of the question and the memory, 0 without one. */
  readonly similarity: number
  /** Stems of all words; stop words unstemmed. */
  readonly terms: ReadonlySet<string>
  /** The matters that its words are about (matters.ts). */
  readonly matters: ReadonlySet<number>
  readonly statements: readonly Statement[]
}

/** A sentence that tells something. */
export interface Statement {
  readonly told: Told
  /** Place in the text, from 0. */
  readonly place: number
  /** As it is quoted. */
  readonly text: string
  readonly terms: ReadonlySet<string>
  readonly matters: ReadonlySet<number>
  /** Stems of the words that are not stop words, in order. */
  readonly contentTerms: readonly string[]
}

/** The description of a picture, which nobody said. */
const CAPTION = /^\[(?:photo|image|picture)\b[^\]]*\]\s*$/i
/** What follows a statement in one sentence, up to a question mark: `…, can you help?` */
const QUESTION_PART = new RegExp([
  String.raw`[,;:—–-]\s*(?:(?:and|but|so)\s+)?(?=(?:can|could|would|will|should|do|does|did|is|are|was|what|how`,
  String.raw`|why|when|where|who|which|any|have|has)\b)`,
].join(''), 'iu')
/** The score of evidence that was not ranked. */
const UNRANKED = 0.5
const ASKS = /[?？؟]\s*["'”’)\]]*$/u

/** Reads the statements of the evidence, sentence by sentence. */
export async function statementsIn (evidence: readonly Evidence[]): Promise<Told[]> {
  const told: Told[] = []
  for (const [index, memory] of evidence.entries()) {
    if (isDue()) await giveWay()
    const { text: whole, speaker: stated = null, occurredAt, retainedAt } = memory
    const named = stated === null ? NAME_BEFORE_TEXT.exec(whole) : null
    const speaker = stated ?? named?.[1] ?? null
    const text = named === null ? whole : whole.slice(named[0].length)
    const statements: Statement[] = []
    const terms = new Set<string>()
    const matters = new Set<number>()
    const one: Told = {
      source: index + 1,
      speaker,
      speakerKey: speaker === null ? '' : speakerKey(speaker),
      instant: parseInstant(occurredAt ?? retainedAt) ?? null,
      isStoredAt: occurredAt === null,
      score: memory.score ?? UNRANKED,
      similarity: memory.similarity ?? 0,
      terms,
      matters,
      statements,
    }
    for (const { start, end } of sentencesOf(text)) {
      const sentence = text.slice(start, end)
      const read = readTerms(sentence)
      for (const term of read.terms) terms.add(term)
      for (const matter of read.matters) matters.add(matter)
      statements.push({ told: one, place: statements.length, text: sentence, ...read })
    }
    told.push(one)
  }
  return told
}

/** @returns the part of a sentence that states something; undefined when it only greets, reacts or asks */
export function statedIn (sentence: string, isName: (word: string) => boolean): string | undefined {
  const said = withoutOpening(withoutCaption(sentence))
  const stated = ASKS.test(said) ? statementBeforeQuestion(said) : said
  return stated !== undefined && tellsSomething(stated, isName) ? stated : undefined
}

function withoutCaption (sentence: string): string {
  const start = sentence.lastIndexOf('[')
  return start !== -1 && CAPTION.test(sentence.slice(start)) ? sentence.slice(0, start).trimEnd() : sentence
}

function statementBeforeQuestion (sentence: string): string | undefined {
  const part = QUESTION_PART.exec(sentence)
  return part === null || part.index === 0 ? undefined : `${sentence.slice(0, part.index)} …`
}

export function readTerms (text: string): Pick<Statement, 'terms' | 'matters' | 'contentTerms'> {
  const terms = new Set<string>()
  const contentTerms: string[] = []
  for (const word of words(text)) {
    const isContent = !STOP_WORDS.has(word)
    const term = isContent ? stem(word) : word
    terms.add(term)
    for (const other of otherForms(term)) terms.add(other)
    if (isContent) contentTerms.push(term)
  }
  return { terms, matters: mattersOf(contentTerms), contentTerms }
}
