import { endsAsQuestion } from '../context.js'
import { byMemoryId, DERIVED, type Memory, type NewMemory } from '../vector-store.js'
import type { VectorEntry } from './vector-index.js'

/** Decides whether a memory may be found; undefined when every memory may. */
export type Accept = ((memory: Memory) => boolean) | undefined

// Shared by all memories without tags or metadata, the usual case.
const NO_TAGS: readonly string[] = Object.freeze([])
const NO_METADATA = Object.freeze({})

/** Shared by all entries that a change adds, or by all that it removes; toggled when the change is committed. */
export interface Visibility {
  isVisible: boolean
}

/** Visibility of all entries that are permanently removed. */
export const REMOVED: Visibility = Object.freeze({ isVisible: false })

/** A memory in its bank, with its positions in the indexes. */
export class Entry {
  readonly memory: Memory
  readonly fingerprint: string
  readonly passages: readonly PassageRef[]
  /** Whether its last passage ends in a question. */
  readonly endsAsQuestion: boolean
  /** The adjacent memories in its sequence (lib/stores/context.ts). */
  before: Entry | undefined
  after: Entry | undefined
  /** The number of its first passage in the lexical index; -1 before it has one. */
  head: number
  /** Absent unless a change that is not settled yet involves the entry. */
  visibility: Visibility | undefined

  constructor (source: NewMemory, mark: Visibility | undefined) {
    const { fingerprint, passages, tags, metadata } = source
    // First the members that a recall reads of a hundred candidates, so that they share cache lines.
    this.memory = {
      [DERIVED]: undefined,
      memoryId: source.memoryId,
      text: source.text,
      documentId: source.documentId,
      metadata: Object.keys(metadata).length === 0 ? NO_METADATA : metadata,
      trust: source.trust,
      tokens: source.tokens,
      tags: tags.length === 0 ? NO_TAGS : tags,
      occurredAt: source.occurredAt,
      retainedAt: source.retainedAt,
      expiresAt: source.expiresAt,
      source: source.source,
    }
    this.fingerprint = fingerprint
    this.passages = passages.map(({ start, end }) => new PassageRef(this, start, end))
    this.endsAsQuestion = endsAsQuestion(passages)
    this.before = undefined
    this.after = undefined
    this.head = -1
    this.visibility = mark
  }

  get isVisible (): boolean {
    return this.visibility === undefined || this.visibility.isVisible
  }

  /** Whether one of its passages has a vector. */
  get isEmbedded (): boolean {
    return this.passages.some(({ vector }) => vector !== undefined)
  }

  /** Whether one of its passages lacks a vector. */
  get isUnembedded (): boolean {
    return this.passages.some(({ vector }) => vector === undefined)
  }
}

/** A passage with its positions in the indexes; the payload of its vector. */
export class PassageRef {
  vector: VectorEntry<PassageRef> | undefined

  constructor (readonly entry: Entry, readonly start: number, readonly end: number) {
    this.vector = undefined
  }
}

export function isUnexpired ({ expiresAt }: Memory, now: number): boolean {
  return expiresAt === null || expiresAt > now
}

export function byAge (a: Entry, b: Entry): number {
  return a.memory.retainedAt - b.memory.retainedAt || byMemoryId(a, b)
}
