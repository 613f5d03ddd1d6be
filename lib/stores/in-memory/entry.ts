import { takesPart } from '../context.js'
import type { Memory, NewMemory, Passage } from '../vector-store.js'
import type { Expiry } from './expiry-heap.js'
import type { LexicalDocument } from './lexical-document.js'
import { isWeight } from './postings.js'
import type { VectorEntry } from './vector-index.js'

// One each for all memories without tags and metadata, which are most.
const NO_TAGS: readonly string[] = Object.freeze([])
const NO_METADATA = Object.freeze({})

/** Shared by all that a change adds, and by all that it takes away: turned over when it is committed. */
export interface Mark {
  isVisible: boolean
}

/** Of whatever was taken out for good. */
export const GONE: Mark = Object.freeze({ isVisible: false })

/** That a neighbour is indexed anew by the change under way, or goes with it. */
export type ContextTask = Passage | 'again' | 'leaves'

/** A memory in its bank, with its places in the indexes. */
export class Entry {
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: readonly PassageRef[]
  /** Whether its last passage ends in a question. */
  readonly question: boolean
  /** Weights of its own terms, in the order of its postings; absent when all are 1, and for a memory that lends nothing. */
  readonly ownCounts: readonly number[] | undefined
  /** Absent unless a change that is not settled yet concerns it. */
  mark: Mark | undefined
  /** Only while ContextIndexing works on it; its passage when that is not indexed yet. */
  task: ContextTask | undefined
  expiry: Expiry<Entry> | undefined

  constructor (source: NewMemory, mark: Mark | undefined) {
    const { fingerprint, passages, tags, metadata } = source
    const counts = takesPart(source, passages) ? [...passages[0]!.terms.values()].filter((count) => isWeight(count)) : []
    this.memory = {
      memoryId: source.memoryId,
      text: source.text,
      tags: tags.length === 0 ? NO_TAGS : tags,
      metadata: Object.keys(metadata).length === 0 ? NO_METADATA : metadata,
      occurredAt: source.occurredAt,
      retainedAt: source.retainedAt,
      expiresAt: source.expiresAt,
      documentId: source.documentId,
      source: source.source,
      tokens: source.tokens,
      trust: source.trust,
    }
    this.fingerprint = fingerprint
    this.passages = passages.map(({ start, end }) => new PassageRef(this, start, end))
    this.question = passages.at(-1)?.question === true
    this.ownCounts = counts.some((count) => count !== 1) ? counts : undefined
    this.mark = mark
    this.task = undefined
    this.expiry = undefined
  }

  get isVisible (): boolean {
    return this.mark === undefined || this.mark.isVisible
  }

  /** Whether one of its passages has a vector. */
  get isEmbedded (): boolean {
    return this.passages.some(({ vector }) => vector !== undefined)
  }

  /** Whether one of its passages has none. */
  get isUnembedded (): boolean {
    return this.passages.some(({ vector }) => vector === undefined)
  }
}

/** One passage, as the indexes know it. */
export class PassageRef {
  lexical: LexicalDocument<PassageRef> | undefined
  vector: VectorEntry<PassageRef> | undefined

  constructor (readonly entry: Entry, readonly start: number, readonly end: number) {
    this.lexical = undefined
    this.vector = undefined
  }
}

export function byAge (a: Entry, b: Entry): number {
  return a.memory.retainedAt - b.memory.retainedAt || compareText(a.memory.memoryId, b.memory.memoryId)
}

export function byMemoryId (a: Entry, b: Entry): number {
  return compareText(a.memory.memoryId, b.memory.memoryId)
}

/** Code-unit order, which no locale changes. */
export function compareText (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
