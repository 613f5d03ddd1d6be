import { LRUCache } from 'lru-cache'
import type { Clock } from '../time/clock.js'
import { ServiceError } from '../errors/service-error.js'
import type { BankKey } from '../identity/context.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import { unlessAborted } from '../concurrency/aborting.js'
import { BackOff, type BackOffTools } from '../concurrency/back-off.js'
import { withTimeout } from '../concurrency/timeout.js'
import { embed } from '../retrieval/passages.js'
import type { NewMemory, VectorStore } from '../stores/vector-store.js'
import { detached } from '../telemetry/tracing.js'
import { loggedReason } from './model-errors.js'
import { backlogKey, EmbeddingBacklog, type BacklogEntry } from './embedding-backlog.js'

/** A store that takes vectors after the write. */
export type LateVectorStore = Required<Pick<VectorStore, 'attachVectors' | 'listUnembedded'>>

export interface EmbeddingBackfillOptions extends BackOffTools {
  store: LateVectorStore
  embeddings: EmbeddingProvider
  clock: Clock
  /** Take sentences for the operator's log, never with content of a memory. */
  warn: (message: string) => void
  info: (message: string) => void
  /** Memories that wait in memory at most. */
  maxWaiting?: number
}

const PAGE = 256
/** What stop() waits at most for the store to take what is on its way. */
const STOP_MS = 2000
/** Memories that get no vectors, remembered so that no scan brings them back. */
const MAX_REFUSED = 10_000
/** So many memories in a row with unusable vectors tell against the provider and not against them. */
const REFUSALS_IN_A_ROW = 3

/**
 * Makes the vectors of memories that were stored without, one batch at a time, and hands them to the store. What is written here is
 * fed in; what else lacks vectors (from before the start, what found no room, what came while the provider failed) is found by scans of the store.
 */
export class EmbeddingBackfill {
  readonly #options: EmbeddingBackfillOptions
  readonly #backOff: BackOff
  readonly #waiting: EmbeddingBacklog
  readonly #underway = new Map<string, BacklogEntry>()
  /** Memories that are being replaced, and by how many writes. */
  readonly #replacing = new Map<string, number>()
  /** Memories that were replaced while a page was read, which may tell of their old texts. */
  #replaced: Set<string> | undefined
  /** Whether a scan came upon a memory that was being replaced. */
  #passedOver = false
  readonly #refused = new LRUCache<string, true>({ max: MAX_REFUSED })
  readonly #stop = new AbortController()
  #scanWanted = false
  #scanFailed = false
  #scan: { after?: BankKey & { memoryId: string } } | undefined
  #work: Promise<void> | undefined
  #busy = false
  #idle: Array<() => void> = []
  #attaching: Promise<unknown> | undefined
  #successes = 0
  #refusals = 0

  constructor (options: EmbeddingBackfillOptions) {
    this.#options = options
    this.#backOff = new BackOff(options)
    this.#waiting = new EmbeddingBacklog(options.maxWaiting)
  }

  /** Whether the last thing tried went wrong: then a write need not wait for a provider that is likely to fail it. */
  get isFailing (): boolean {
    return this.#backOff.isFailing
  }

  /** Memories that wait here or are being worked on; what a scan would find is not known. */
  get pending (): number {
    return this.#waiting.size + this.#underway.size
  }

  /** Looks for what lacks vectors: from before the start, or from a write that does not know what it has stored. */
  requestScan (): void {
    this.#scanWanted = true
    this.#wake()
  }

  /** Memories that a write has just stored without vectors. */
  enqueue (bank: BankKey, memories: ReadonlyArray<Pick<NewMemory, 'memoryId' | 'text' | 'passages'>>): void {
    for (const { memoryId, text, passages } of memories) {
      const key = backlogKey(bank, memoryId)
      this.#underway.delete(key)
      // Without the terms, which are many and of no use here.
      const entry = { key, bank, memoryId, text, passages: passages.map(({ start, end }) => ({ start, end })) }
      if (!this.#waiting.add(entry)) this.#scanWanted = true
    }
    this.#wake()
  }

  /** Does a write that puts other texts under ids that may stand: vectors of the old texts must not come to the new ones. */
  async replacing<T> (bank: BankKey, memoryIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const keys = memoryIds.map((memoryId) => backlogKey(bank, memoryId))
    for (const key of keys) {
      this.#replacing.set(key, (this.#replacing.get(key) ?? 0) + 1)
      this.#waiting.delete(key)
      this.#underway.delete(key)
    }
    try {
      await this.#attaching?.catch(() => {})
      return await write()
    } catch (error) {
      // The old texts stand, and may lack vectors still.
      this.#scanWanted = true
      throw error
    } finally {
      for (const key of keys) {
        const others = this.#replacing.get(key)! - 1
        if (others === 0) this.#replacing.delete(key)
        else this.#replacing.set(key, others)
        this.#replaced?.add(key)
      }
      this.#scanWanted ||= this.#passedOver
      this.#passedOver = false
      this.#wake()
    }
  }

  /** Resolves when no memory is known to lack vectors, and when stopped. */
  async idle (): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => { this.#idle.push(resolve) })
  }

  /** Gives up what waits (a durable store has it found again at the next start), and waits a moment for the batch under way. */
  async stop (): Promise<void> {
    this.#stop.abort(new Error('The server is stopping'))
    this.#backOff.endPause()
    if (this.#work !== undefined) await withTimeout(this.#work, STOP_MS)
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #wake (): void {
    if (this.#busy || this.#stop.signal.aborted || !this.#hasWork()) return
    this.#busy = true
    // It goes on after the request that wakes it.
    this.#work = detached(async () => { await this.#run() })
  }

  #hasWork (): boolean {
    return this.#waiting.size > 0 || this.#scanWanted || this.#scan !== undefined
  }

  /** Nothing may be awaited between the last look at what is owed and `#busy = false`: what is fed then would be left lying. */
  async #run (): Promise<void> {
    while (this.#hasWork() && !this.#stop.signal.aborted) {
      let failed = false
      try {
        failed = this.#waiting.size === 0 ? await this.#readPage() : await this.#embedBatch(this.#waiting.take(this.isFailing))
      } catch (error) {
        this.#scanFailed = true
        this.#noteFailure(error, 'memories without vectors cannot be looked for')
        failed = true
      }
      if (failed && !this.#stop.signal.aborted) await this.#backOff.pause()
    }
    this.#busy = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #readPage (): Promise<false> {
    const { store, clock } = this.#options
    if (this.#scan === undefined) {
      this.#scanWanted = false
      this.#scan = {}
    }
    const replaced = this.#replaced = new Set<string>()
    const page = await store.listUnembedded({ now: clock(), limit: PAGE, ...this.#scan })
    const last = page.at(-1)
    this.#scan = last === undefined ? undefined : { after: { ...last.bank, memoryId: last.memory.memoryId } }
    for (const { bank, memory: { memoryId, text }, passages } of page) {
      const key = backlogKey(bank, memoryId)
      if (this.#waiting.has(key) || this.#refused.has(key)) continue
      if (this.#replacing.has(key)) this.#passedOver = true
      else if (replaced.has(key) || !this.#waiting.add({ key, bank, memoryId, text, passages })) this.#scanWanted = true
    }
    this.#replaced = undefined
    if (this.#scanFailed) this.#recover()
    return false
  }

  /** @returns whether it is better to wait before the next */
  async #embedBatch (batch: readonly BacklogEntry[]): Promise<boolean> {
    const { store, embeddings, clock } = this.#options
    const { signal } = this.#stop
    for (const entry of batch) this.#underway.set(entry.key, entry)
    try {
      const texts = batch.flatMap(({ text, passages }) => passages.map(({ start, end }) => text.slice(start, end)))
      const vectors = await unlessAborted(embed(embeddings, texts, { signal, purpose: 'document' }), signal)
      const late = batch.map(({ key, memoryId, passages }) => ({ key, memoryId, vectors: vectors.splice(0, passages.length) }))
        .filter(({ key }) => {
          const replaced = this.#replacing.has(key)
          this.#passedOver ||= replaced
          return !replaced && this.#underway.has(key)
        })
      this.#attaching = store.attachVectors(batch[0]!.bank, late, clock())
      await this.#attaching
      this.#succeed(batch.length)
      return false
    } catch (error) {
      const left = batch.filter(({ key }) => this.#underway.has(key))
      return !signal.aborted && this.#fail(left, error)
    } finally {
      this.#attaching = undefined
      this.#underway.clear()
    }
  }

  #succeed (memories: number): void {
    this.#successes += memories
    this.#refusals = 0
    this.#recover()
  }

  #recover (): void {
    if (!this.#backOff.succeed()) return
    this.#scanFailed = false
    this.#scanWanted = true
    this.#options.info('embedding_provider: vectors are made again; the memories that lack theirs get them now')
  }

  /**
   * Puts the batch back. A memory that fails alone while others do not is given up: it must not stop them for ever.
   * @returns whether the fault seems to be the provider's or the store's
   */
  #fail (batch: readonly BacklogEntry[], error: unknown): boolean {
    const unusable = error instanceof ServiceError && error.code === 'model_output_invalid'
    const [only] = batch
    if (batch.length === 1 && only!.triedAt !== undefined && (this.#successes > only!.triedAt || (unusable && this.#refusals < REFUSALS_IN_A_ROW))) {
      this.#refusals++
      this.#refused.set(only!.key, true)
      this.#options.warn(`embedding_provider: the memory ${only!.memoryId} of the bank ${only!.bank.bankId} gets no vectors (${loggedReason(error)}); it is found by its words only`)
      return false
    }
    for (const entry of batch) this.#waiting.putBack({ triedAt: this.#successes, ...entry })
    this.#noteFailure(error, 'vectors cannot be made')
    return true
  }

  #noteFailure (error: unknown, what: string): void {
    if (this.#stop.signal.aborted || !this.#backOff.fail()) return
    this.#options.warn(`embedding_provider: ${what} (${loggedReason(error)}); what is new is found by its words only until they follow`)
  }
}
