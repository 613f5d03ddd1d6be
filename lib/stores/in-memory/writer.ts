import { bankKeyString, type BankKey } from '../../identity/context.js'
import { KeyedQueue } from '../../concurrency/keyed-queue.js'
import { atOnce, inTurns, type Steps, type Turns } from '../../concurrency/steps.js'
import { Bank } from './bank.js'
import type { Directory } from './directory.js'
import type { Entry } from './entry.js'
import { neededBytes, type Capacity } from './capacity.js'
import type { VectorArena } from './vector-arena.js'
import { estimatePostings, type WritePlan } from './writes.js'

/** Postings that a write touches at most to be done at once: some two milliseconds. */
const AT_ONCE = 4000

export interface InMemoryWriterOptions {
  directory: Directory
  room: Capacity
  arena: VectorArena
  turns: Turns
  /** Postings that a write touches at most to be done at once. */
  atOnce?: number | undefined
}

export interface WriteOptions {
  /** About how many memories it looks at. */
  items: (bank: Bank) => number
  /** Called in the moment in which the change becomes visible. */
  committed?: () => void
  /** Gives up the wait for other writes to the bank. */
  signal?: AbortSignal | undefined
}

/**
 * Changes banks, one change of a bank after the other. A small one is done at once. A large one is done in pieces,
 * between which readers see the bank as it was, until it is committed in one step.
 */
export class InMemoryWriter {
  readonly #directory: Directory
  readonly #room: Capacity
  readonly #arena: VectorArena
  readonly #turns: Turns
  readonly #atOnce: number
  readonly #queue = new KeyedQueue()
  /** Banks that are being tidied up, or wait for it. */
  readonly #tidying = new Set<string>()
  #isClosed = false

  constructor ({ directory, room, arena, turns, atOnce = AT_ONCE }: InMemoryWriterOptions) {
    this.#directory = directory
    this.#room = room
    this.#arena = arena
    this.#turns = turns
    this.#atOnce = atOnce
  }

  /**
   * @param plan says what is to be done; may be made twice
   */
  async write<T> (
    key: BankKey, now: number, plan: (bank: Bank) => Steps<WritePlan<T>>,
    { items, committed = () => {}, signal }: WriteOptions,
  ): Promise<T> {
    const id = bankKeyString(key)
    if (this.#queue.length(id) === 0 && this.expireAtOnce(key, now, id)) {
      const bank = this.#open(key, id)
      if (items(bank) <= this.#atOnce) {
        const planned = atOnce(plan(bank))
        if (estimatePostings(planned, this.#atOnce) <= this.#atOnce) {
          this.#applyAtOnce(bank, planned, committed)
          return planned.outcome
        }
      }
    }
    return await this.runExclusively(key, now, async () => {
      const bank = this.#open(key, id)
      const planned = await inTurns(plan(bank), id, this.#turns)
      if (estimatePostings(planned, this.#atOnce) <= this.#atOnce) this.#applyAtOnce(bank, planned, committed)
      else await this.#applyInPieces(id, bank, planned, committed)
      return planned.outcome
    }, signal)
  }

  /** Does something while nobody else writes to the bank. What has expired at `now` is gone from it. */
  async runExclusively<T> (key: BankKey, now: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const id = bankKeyString(key)
    return await this.#queue.run(id, async () => {
      await this.#expire(key, now)
      return await work()
    }, signal)
  }

  /** Does something with a bank at once, or when those who write to it are done. */
  async runWhenIdle<T> (key: BankKey, now: number, work: () => T): Promise<T> {
    if (this.#queue.length(bankKeyString(key)) === 0 && this.expireAtOnce(key, now)) return work()
    return await this.runExclusively(key, now, async () => work())
  }

  /** Drops a bank with all that it holds. Only while nobody else writes to it. */
  drop (bank: Bank): void {
    this.#directory.drop(bank)
  }

  /**
   * Takes out what has expired, when that is little; otherwise that is begun.
   * @returns whether nothing that has expired is left
   */
  expireAtOnce (key: BankKey, now: number, id = bankKeyString(key)): boolean {
    const bank = this.#directory.get(id)
    if (bank === undefined || now < bank.entries.nextExpiry) return true
    if (this.#queue.length(id) === 0) {
      const removed: Entry[] = []
      for (const entry of bank.entries.expired(now)) if (removed.push(entry) > this.#atOnce) break
      if (estimatePostings({ added: [], removed }, this.#atOnce) <= this.#atOnce) {
        this.#applyAtOnce(bank, { added: [], removed })
        return true
      }
    }
    this.#later(id, async () => { await this.#expire(key, now) })
    return false
  }

  /** Nothing that is under way becomes visible any more. */
  close (): void {
    this.#isClosed = true
  }

  async #expire (key: BankKey, now: number): Promise<void> {
    const id = bankKeyString(key)
    const bank = this.#directory.get(id)
    if (bank === undefined || now < bank.entries.nextExpiry) return
    const removed = await inTurns(collectExpired(bank, now), id, this.#turns)
    const plan = { added: [], removed }
    if (estimatePostings(plan, this.#atOnce) <= this.#atOnce) this.#applyAtOnce(bank, plan)
    else await this.#applyInPieces(id, bank, plan)
  }

  /** The bank, made when there is none; it joins the store with its first memory. */
  #open (key: BankKey, id: string): Bank {
    return this.#directory.get(id) ?? new Bank(key, this.#arena)
  }

  #applyAtOnce (bank: Bank, { added, removed }: Pick<WritePlan<unknown>, 'added' | 'removed'>, committed?: () => void): void {
    let needed = 0
    for (const memory of added) needed += neededBytes(memory)
    this.#room.reserve(needed)
    try {
      if (added.length + removed.length > 0) {
        if (removed.length === bank.size && added.length === 0) this.#directory.drop(bank)
        else atOnce(bank.apply(added, removed))
      }
      committed?.()
    } finally {
      this.#room.adjust(-needed)
      if (bank.size > 0 && added.length > 0) this.#directory.note(bank)
      else this.#noteRemoval(bank)
    }
    this.#tidy(bank)
  }

  async #applyInPieces (id: string, bank: Bank, { added, removed }: Pick<WritePlan<unknown>, 'added' | 'removed'>, committed?: () => void): Promise<void> {
    const needed = await inTurns(sumOfNeeds(added), id, this.#turns)
    this.#room.reserve(needed)
    let reserved = needed
    const giveBack = () => {
      this.#room.adjust(-reserved)
      reserved = 0
    }
    try {
      const isOverwhole = removed.length === bank.size
      if (isOverwhole && added.length === 0) {
        this.#directory.drop(bank)
        committed?.()
        return
      }
      // A bank that nobody sees yet needs no care, so one of which nothing is left is made anew.
      const changed = isOverwhole ? new Bank(bank.key, this.#arena) : bank
      const join = () => {
        giveBack()
        if (this.#isClosed) return
        this.#directory.note(changed)
        committed?.()
      }
      try {
        const options = { hidden: !isOverwhole, committed: join }
        await inTurns(changed.apply(added, isOverwhole ? [] : removed, options), id, this.#turns)
      } catch (error) {
        if (isOverwhole) changed.release()
        throw error
      }
      this.#noteRemoval(changed)
      this.#tidy(changed)
    } finally {
      giveBack()
    }
  }

  /** What a bank takes after a change, unless it is no longer there. */
  #noteRemoval (bank: Bank): void {
    if (this.#directory.get(bank.id) === bank) this.#directory.note(bank)
  }

  #tidy (bank: Bank): void {
    if (!bank.lexical.needsSweep) return
    const { id } = bank
    this.#later(id, async () => { if (this.#directory.get(id) === bank) await inTurns(bank.sweep(), id, this.#turns) })
  }

  /** Does something in the background when those who write to the bank are done. */
  #later (id: string, work: () => Promise<void>): void {
    if (this.#isClosed || this.#tidying.has(id)) return
    this.#tidying.add(id)
    // It takes away what is gone already, which does not fail; whoever writes next would meet the same.
    this.#queue.run(id, work).catch(() => {}).finally(() => { this.#tidying.delete(id) })
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

function * sumOfNeeds (added: WritePlan<unknown>['added']): Steps<number> {
  let needed = 0
  for (const memory of added) {
    needed += neededBytes(memory)
    yield
  }
  return needed
}
