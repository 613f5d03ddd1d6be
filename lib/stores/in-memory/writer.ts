import { bankKeyString, type BankKey } from '../../identity/context.js'
import { KeyedQueue } from '../../concurrency/keyed-queue.js'
import { runSync, runInTurns, type Steps, type Turns } from '../../concurrency/steps.js'
import type { WriteOptions } from '../writes.js'
import { Bank } from './bank.js'
import type { Directory } from './directory.js'
import type { Entry } from './entry.js'
import { neededBytes, type Capacity } from './capacity.js'
import type { VectorArena } from './vector-arena.js'
import { estimatePostings, type BankChange, type WritePlan } from './writes.js'

/** Default for the postings of a write that is done synchronously: some two milliseconds. */
const MAX_SYNC_POSTINGS = 4000

interface InMemoryWriterOptions {
  directory: Directory
  capacity: Capacity
  arena: VectorArena
  turns: Turns
  /** Maximum number of postings of a write that is done synchronously. */
  maxSyncPostings?: number | undefined
}

interface PlannedWrite extends Pick<WriteOptions, 'now' | 'signal'> {
  /** Approximate number of memories that the write examines. */
  readonly items: (bank: Bank) => number
  /** Called when the change becomes visible, in the same turn of the event loop. */
  readonly committed?: () => void
}

/**
 * Changes banks; the changes of each bank are serialized. A small change is made synchronously. A large one is made in
 * steps, between which readers see the bank as it was, until one step commits it.
 */
export class InMemoryWriter {
  readonly #directory: Directory
  readonly #capacity: Capacity
  readonly #arena: VectorArena
  readonly #turns: Turns
  readonly #maxSyncPostings: number
  readonly #queue = new KeyedQueue()
  /** Banks with queued or running background work. */
  readonly #backgroundWork = new Set<string>()
  #isClosed = false

  constructor ({ directory, capacity, arena, turns, maxSyncPostings = MAX_SYNC_POSTINGS }: InMemoryWriterOptions) {
    this.#directory = directory
    this.#capacity = capacity
    this.#arena = arena
    this.#turns = turns
    this.#maxSyncPostings = maxSyncPostings
  }

  /** @param plan computes the change; may be called twice */
  async write<T> (
    key: BankKey, plan: (bank: Bank) => Steps<WritePlan<T>>, { now, items, committed, signal }: PlannedWrite,
  ): Promise<T> {
    const id = bankKeyString(key)
    if (this.#queue.length(id) === 0 && this.expireSync(key, now, id)) {
      const bank = this.#open(key, id)
      if (items(bank) <= this.#maxSyncPostings) {
        const planned = runSync(plan(bank))
        if (this.#isSmall(planned)) {
          this.#applySync(bank, planned, committed)
          return planned.outcome
        }
      }
    }
    return await this.runExclusively(key, now, async () => {
      const bank = this.#open(key, id)
      const planned = await runInTurns(plan(bank), id, this.#turns)
      if (this.#isSmall(planned)) this.#applySync(bank, planned, committed)
      else await this.#applyInSteps(id, bank, planned, committed)
      return planned.outcome
    }, signal)
  }

  /** Runs work while no other write to the bank runs. Memories expired at `now` are removed first. */
  async runExclusively<T> (key: BankKey, now: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const id = bankKeyString(key)
    return await this.#queue.run(id, async () => {
      await this.#expire(key, now)
      return await work()
    }, signal)
  }

  /** Runs work on a bank at once, or after the queued writes to it. @param signal cancels the wait for these */
  async runWhenIdle<T> (key: BankKey, now: number, work: () => T, signal?: AbortSignal): Promise<T> {
    if (this.#queue.length(bankKeyString(key)) === 0 && this.expireSync(key, now)) return work()
    return await this.runExclusively(key, now, async () => work(), signal)
  }

  /**
   * Removes expired memories if they are few; otherwise starts their removal.
   * @returns whether no expired memories are left
   */
  expireSync (key: BankKey, now: number, id = bankKeyString(key)): boolean {
    const bank = this.#directory.get(id)
    if (bank === undefined || now < bank.entries.nextExpiry) return true
    if (this.#queue.length(id) === 0) {
      const removed: Entry[] = []
      for (const entry of bank.entries.expired(now)) if (removed.push(entry) > this.#maxSyncPostings) break
      if (this.#isSmall({ added: [], removed })) {
        this.#applySync(bank, { added: [], removed })
        return true
      }
    }
    this.#runInBackground(id, async () => { await this.#expire(key, now) })
    return false
  }

  /** No write in progress becomes visible any more. */
  close (): void {
    this.#isClosed = true
  }

  async #expire (key: BankKey, now: number): Promise<void> {
    const id = bankKeyString(key)
    const bank = this.#directory.get(id)
    if (bank === undefined || now < bank.entries.nextExpiry) return
    const removed = await runInTurns(collectExpired(bank, now), id, this.#turns)
    const plan = { added: [], removed }
    if (this.#isSmall(plan)) this.#applySync(bank, plan)
    else await this.#applyInSteps(id, bank, plan)
  }

  /** The bank, created if it does not exist; the first memory adds it to the directory. */
  #open (key: BankKey, id: string): Bank {
    return this.#directory.get(id) ?? new Bank(key, this.#arena)
  }

  #applySync (bank: Bank, { added, removed }: BankChange, committed?: () => void): void {
    let needed = 0
    for (const memory of added) needed += neededBytes(memory)
    this.#capacity.reserve(needed)
    try {
      if (added.length + removed.length > 0) {
        if (removed.length === bank.size && added.length === 0) this.#directory.drop(bank)
        else runSync(bank.apply(added, removed))
      }
      committed?.()
    } finally {
      this.#capacity.adjust(-needed)
      if (bank.size > 0 && added.length > 0) this.#directory.note(bank)
      else this.#noteRemoval(bank)
    }
  }

  async #applyInSteps (
    id: string, bank: Bank, { added, removed }: BankChange, committed?: () => void,
  ): Promise<void> {
    const needed = await runInTurns(sumOfNeeds(added), id, this.#turns)
    this.#capacity.reserve(needed)
    let reserved = needed
    const releaseReserved = () => {
      this.#capacity.adjust(-reserved)
      reserved = 0
    }
    try {
      const removesAll = removed.length === bank.size
      if (removesAll && added.length === 0) {
        this.#directory.drop(bank)
        committed?.()
        return
      }
      // If all memories are removed, a new bank replaces this one: readers do not see it before it is registered.
      const changed = removesAll ? new Bank(bank.key, this.#arena) : bank
      const join = () => {
        releaseReserved()
        if (this.#isClosed) return
        this.#directory.note(changed)
        committed?.()
      }
      try {
        const options = { committed: join }
        await runInTurns(changed.apply(added, removesAll ? [] : removed, options), id, this.#turns)
      } catch (error) {
        if (removesAll) changed.release()
        throw error
      }
      this.#noteRemoval(changed)
    } finally {
      releaseReserved()
    }
  }

  /** Whether a change is small enough to be made synchronously. */
  #isSmall (change: BankChange): boolean {
    return estimatePostings(change, this.#maxSyncPostings) <= this.#maxSyncPostings
  }

  /** Updates the size of a bank after a change, unless the bank was dropped. */
  #noteRemoval (bank: Bank): void {
    if (this.#directory.get(bank.id) === bank) this.#directory.note(bank)
  }

  /** Runs work in the background after the queued writes to the bank. */
  #runInBackground (id: string, work: () => Promise<void>): void {
    if (this.#isClosed || this.#backgroundWork.has(id)) return
    this.#backgroundWork.add(id)
    // It removes memories that are no longer visible, which should not fail; a persistent error recurs in the next
    // write.
    this.#queue.run(id, work).catch(() => {}).finally(() => { this.#backgroundWork.delete(id) })
  }
}

function * collectExpired (bank: Bank, now: number): Steps<Entry[]> {
  const expired: Entry[] = []
  for (const entry of bank.entries.expired(now)) {
    expired.push(entry)
    yield
  }
  return expired
}

function * sumOfNeeds (added: BankChange['added']): Steps<number> {
  let needed = 0
  for (const memory of added) {
    needed += neededBytes(memory)
    yield
  }
  return needed
}
