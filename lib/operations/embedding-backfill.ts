import { LRUCache } from 'lru-cache'
import { bankKeyString, type BankKey } from '../access/context.js'
import { unlessAborted } from '../base/aborting.js'
import type { Clock } from '../base/clock.js'
import { withTimeout } from '../base/deadline.js'
import { BackOff, type BackOffTools } from '../base/retry.js'
import { ServiceError } from '../base/service-error.js'
import { detached } from '../base/tracing.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import { embed } from '../ranking/passages.js'
import { embeddedTexts, nameOf } from '../stores/speaker.js'
import type { NewMemory, VectorStore, Memory, Unembedded } from '../stores/vector-store.js'
import { failuresOfOneText, noVectorsWarning, noVectorsYetWarning, requestedPauseMs } from './model-errors.js'

export interface EmbeddingBackfillOptions extends BackOffTools {
  store: Required<Pick<VectorStore, 'attachVectors' | 'listUnembedded'>>
  embeddings: EmbeddingProvider
  clock: Clock
  /** Writes to the operator's log; messages never contain text of a memory. */
  warn: (message: string) => void
  info: (message: string) => void
}

const PAGE_SIZE = 256
/** How long stop() waits for the batch in progress. */
const STOP_TIMEOUT_MS = 2000
/** Maximum number of memories remembered as failed, so that scans skip them. */
const MAX_REFUSED = 10_000
/** After this many consecutive memories with unusable vectors, the provider is assumed to be at fault. */
const MAX_REFUSALS_IN_ROW = 3

/**
 * Computes the vectors of memories that were stored without them, one batch at a time, and writes them to the store.
 * Writes of this process are enqueued; other memories without vectors (from before the start, beyond the bound, or
 * after failures) are found by scans of the store.
 */
export class EmbeddingBackfill {
  readonly #options: EmbeddingBackfillOptions
  readonly #backOff: BackOff
  readonly #waiting = new EmbeddingBacklog()
  readonly #inProgress = new Map<string, BacklogEntry>()
  readonly #replacing = new ReplacedMemories()
  /** Memories that were replaced while a page of the scan was read; the page may hold their old texts. */
  #replaced: Set<string> | undefined
  /** Whether a scan skipped a memory because it was being replaced. */
  #skippedReplaced = false
  readonly #refused = new LRUCache<string, true>({ max: MAX_REFUSED })
  readonly #stop = new AbortController()
  #scanWanted = false
  #scanFailed = false
  #scan: { after?: BankKey & { memoryId: string } } | undefined
  #work: Promise<void> | undefined
  #isRunning = false
  #idle: Array<() => void> = []
  #attaching: Promise<unknown> | undefined
  #successes = 0
  #refusals = 0

  constructor (options: EmbeddingBackfillOptions) {
    this.#options = options
    this.#backOff = new BackOff(options)
  }

  /** Whether the last attempt failed. A write then does not wait for a provider that is likely to fail. */
  get isFailing (): boolean {
    return this.#backOff.isFailing
  }

  /** Memories in the backlog or in progress, not including those that a scan would find. */
  get pending (): number {
    return this.#waiting.size + this.#inProgress.size
  }

  /** Requests a scan for memories without vectors: at the start, or after a write that does not report its memories. */
  requestScan (): void {
    this.#scanWanted = true
    this.#runIfNeeded()
  }

  /** Adds memories that a write has just stored without vectors. */
  enqueue (bank: BankKey, memories: readonly NewMemory[]): void {
    for (const memory of memories) {
      const entry = backlogEntry(bank, memory, memory)
      this.#inProgress.delete(entry.key)
      if (!this.#waiting.add(entry)) this.#scanWanted = true
    }
    this.#runIfNeeded()
  }

  /**
   * Runs a write that may replace the texts of existing memories, and keeps vectors of the old texts from being stored
   * with the new ones.
   */
  async runReplacement<T> (bank: BankKey, memoryIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const keys = memoryIds.map((memoryId) => backlogKey(bank, memoryId))
    for (const key of keys) {
      this.#replacing.begin(key)
      this.#waiting.delete(key)
      this.#inProgress.delete(key)
    }
    try {
      await this.#attaching?.catch(() => {})
      return await write()
    } catch (error) {
      // The old texts are still stored, perhaps without vectors.
      this.#scanWanted = true
      throw error
    } finally {
      for (const key of keys) {
        this.#replacing.end(key)
        this.#replaced?.add(key)
      }
      this.#scanWanted ||= this.#skippedReplaced
      this.#skippedReplaced = false
      this.#runIfNeeded()
    }
  }

  /** Resolves when no memory is known to lack vectors, or when stopped. */
  async idle (): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => { this.#idle.push(resolve) })
  }

  /** Drops the backlog, which a scan finds again after the next start, and waits briefly for the batch in progress. */
  async stop (): Promise<void> {
    this.#stop.abort(new Error('The server is stopping'))
    this.#backOff.endPause()
    if (this.#work !== undefined) await withTimeout(this.#work, STOP_TIMEOUT_MS)
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #runIfNeeded (): void {
    if (this.#isRunning || this.#stop.signal.aborted || !this.#hasWork()) return
    this.#isRunning = true
    // It outlives the request that starts it, so it is detached from that request's trace.
    this.#work = detached(async () => { await this.#run() })
  }

  #hasWork (): boolean {
    return this.#waiting.size > 0 || this.#scanWanted || this.#scan !== undefined
  }

  /**
   * Nothing may be awaited between the last check of #hasWork and `#isRunning = false`: an entry that is added in
   * between would be forgotten.
   */
  async #run (): Promise<void> {
    while (this.#hasWork() && !this.#stop.signal.aborted) {
      let fault: { error: unknown } | undefined
      try {
        if (this.#waiting.size === 0) await this.#readPage()
        else fault = await this.#embedBatch(this.#waiting.take(this.isFailing))
      } catch (error) {
        this.#scanFailed = true
        this.#reportFailure(error, 'memories without vectors cannot be looked for')
        fault = { error }
      }
      if (fault !== undefined && !this.#stop.signal.aborted) await this.#backOff.pause(requestedPauseMs(fault.error))
    }
    this.#isRunning = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #readPage (): Promise<void> {
    const { store, clock } = this.#options
    if (this.#scan === undefined) {
      this.#scanWanted = false
      this.#scan = {}
    }
    const replaced = this.#replaced = new Set<string>()
    const page = await store.listUnembedded({ now: clock(), limit: PAGE_SIZE, ...this.#scan })
    const last = page.at(-1)
    this.#scan = last === undefined ? undefined : { after: { ...last.bank, memoryId: last.memory.memoryId } }
    for (const unembedded of page) {
      const entry = backlogEntry(unembedded.bank, unembedded.memory, unembedded)
      if (this.#waiting.has(entry.key) || this.#refused.has(entry.key)) continue
      if (this.#replacing.has(entry.key)) this.#skippedReplaced = true
      else if (replaced.has(entry.key) || !this.#waiting.add(entry)) this.#scanWanted = true
    }
    this.#replaced = undefined
    if (this.#scanFailed) this.#recover()
  }

  /** @returns the failure after which to back off before the next batch */
  async #embedBatch (batch: readonly BacklogEntry[]): Promise<{ error: unknown } | undefined> {
    const { store, embeddings, clock } = this.#options
    const { signal } = this.#stop
    for (const entry of batch) this.#inProgress.set(entry.key, entry)
    try {
      const made = embed(embeddings, batch.flatMap(embeddedTexts), { signal, purpose: 'document' })
      const vectors = await unlessAborted(made, signal)
      const late = batch
        .map(({ key, memoryId, fingerprint, passages }) => (
          { key, memoryId, fingerprint, vectors: vectors.splice(0, passages.length) }
        ))
        .filter(({ key }) => {
          const replaced = this.#replacing.has(key)
          this.#skippedReplaced ||= replaced
          return !replaced && this.#inProgress.has(key)
        })
      this.#attaching = store.attachVectors(batch[0]!.bank, late, clock())
      await this.#attaching
      this.#successes += batch.length
      this.#refusals = 0
      this.#recover()
      return undefined
    } catch (error) {
      const failedEntries = batch.filter(({ key }) => this.#inProgress.has(key))
      return !signal.aborted && this.#fail(failedEntries, error) ? { error } : undefined
    } finally {
      this.#attaching = undefined
      this.#inProgress.clear()
    }
  }

  #recover (): void {
    if (!this.#backOff.succeed()) return
    this.#scanFailed = false
    this.#scanWanted = true
    this.#options.info('embedding_provider: vectors are made again; memories without vectors get them now')
  }

  /**
   * Puts the batch back into the backlog. A memory whose own text fails is dropped, so that it cannot block the others.
   * @returns whether the fault seems to lie with the provider or the store
   */
  #fail (batch: readonly BacklogEntry[], error: unknown): boolean {
    const textFailures = this.#attaching === undefined ? failuresOfOneText(error) : Infinity
    const isUnusable = error instanceof ServiceError && error.code === 'model_output_invalid'
    const [only] = batch
    const lastTry = batch.length === 1 ? only!.successesAtLastTry : undefined
    const failures = (only?.failures ?? 0) + (lastTry !== undefined && this.#successes > lastTry ? 1 : 0)
    if (failures >= textFailures || (lastTry !== undefined && isUnusable && this.#refusals < MAX_REFUSALS_IN_ROW)) {
      this.#refusals++
      this.#refused.set(only!.key, true)
      this.#options.warn(noVectorsWarning(only!, error))
      return false
    }
    // After a failure that is not of a text, the batch is tried as a whole again.
    const tried = textFailures === Infinity ? {} : { successesAtLastTry: this.#successes, failures }
    for (const entry of batch) this.#waiting.putBack({ ...entry, ...tried })
    this.#reportFailure(error, 'vectors cannot be made')
    return true
  }

  #reportFailure (error: unknown, what: string): void {
    if (this.#stop.signal.aborted || !this.#backOff.fail()) return
    this.#options.warn(noVectorsYetWarning(what, error))
  }
}

/** A memory that lacks its vectors. */
interface BacklogEntry {
  /** Unique across banks. */
  key: string
  bank: BankKey
  memoryId: string
  fingerprint: string
  text: string
  /** The name of the speaker, as in `nameOf`. */
  name: string | null
  passages: ReadonlyArray<{ start: number, end: number }>
  /** The number of memories that had received vectors when this one last failed; undefined before that. */
  successesAtLastTry?: number
  /** How often it has failed alone after others had succeeded since its last try. */
  failures?: number
}

/** Bounds of the backlog, about 32 MB; memories beyond them are found again by a scan. */
const MAX_MEMORIES = 10_000
const MAX_CHARACTERS = 16_000_000
/** Bounds of one batch. A batch has at least one memory, however many passages it has. */
const BATCH_MEMORIES = 32
const BATCH_PASSAGES = 64

function backlogKey (bank: BankKey, memoryId: string): string {
  return `${memoryId} ${bankKeyString(bank)}`
}

export function backlogEntry (
  bank: BankKey, memory: Pick<Memory, 'memoryId' | 'text' | 'speaker'>,
  { fingerprint, passages }: Pick<NewMemory | Unembedded, 'fingerprint' | 'passages'>,
): BacklogEntry {
  // Only the offsets are kept: the terms take memory and are not needed.
  const offsets = passages.map(({ start, end }) => ({ start, end }))
  const { memoryId, text } = memory
  return {
    key: backlogKey(bank, memoryId), bank, memoryId, fingerprint, text, name: nameOf(memory), passages: offsets,
  }
}

/** Memories that wait for their vectors, each once, in order of arrival. */
export class EmbeddingBacklog {
  readonly #entries = new Map<string, BacklogEntry>()
  /** The same entries by bank, in the same order. */
  readonly #banks = new Map<string, Set<BacklogEntry>>()
  #characters = 0

  get size (): number {
    return this.#entries.size
  }

  has (key: string): boolean {
    return this.#entries.has(key)
  }

  /**
   * Adds an entry, which replaces an earlier one of the same memory.
   * @returns false when the backlog is full
   */
  add (entry: BacklogEntry): boolean {
    this.delete(entry.key)
    const isFull = this.#entries.size >= MAX_MEMORIES
    const wouldBeTooLong = this.#entries.size > 0 && this.#characters + entry.text.length > MAX_CHARACTERS
    if (isFull || wouldBeTooLong) return false
    this.#set(entry)
    return true
  }

  /** Returns a taken entry to the end, even beyond the bounds, unless a newer entry of the memory has been added. */
  putBack (entry: BacklogEntry): void {
    if (!this.#entries.has(entry.key)) this.#set(entry)
  }

  delete (key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#characters -= entry.text.length
    const id = bankKeyString(entry.bank)
    const ofBank = this.#banks.get(id)!
    ofBank.delete(entry)
    if (ofBank.size === 0) this.#banks.delete(id)
    return this.#entries.delete(key)
  }

  /**
   * Takes a batch of memories of one bank, that of the oldest entry. An entry that failed before forms its own batch,
   * so that it cannot fail the others.
   */
  take (onlyOne: boolean): BacklogEntry[] {
    const batch: BacklogEntry[] = []
    let passages = 0
    const [oldest] = this.#entries.values()
    if (oldest === undefined) return batch
    for (const entry of this.#banks.get(bankKeyString(oldest.bank))!) {
      if (batch.length > 0) {
        if (entry.successesAtLastTry !== undefined) continue
        if (passages + entry.passages.length > BATCH_PASSAGES) break
      }
      batch.push(entry)
      passages += entry.passages.length
      if (onlyOne || batch[0]!.successesAtLastTry !== undefined || batch.length === BATCH_MEMORIES) break
    }
    for (const { key } of batch) this.delete(key)
    return batch
  }

  #set (entry: BacklogEntry): void {
    this.#entries.set(entry.key, entry)
    const id = bankKeyString(entry.bank)
    const ofBank = this.#banks.get(id)
    if (ofBank === undefined) this.#banks.set(id, new Set([entry]))
    else ofBank.add(entry)
    this.#characters += entry.text.length
  }
}

/** The memories that writes in progress are replacing: no vectors of their old texts may be stored. */
class ReplacedMemories {
  /** By memory, the number of those writes. */
  readonly #writes = new Map<string, number>()

  has (key: string): boolean {
    return this.#writes.has(key)
  }

  begin (key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1)
  }

  end (key: string): void {
    const remaining = this.#writes.get(key)! - 1
    if (remaining === 0) this.#writes.delete(key)
    else this.#writes.set(key, remaining)
  }
}
