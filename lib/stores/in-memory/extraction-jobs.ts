import { bankKeyString, identityOf, type BankKey } from '../../access/context.js'
import { compareText } from '../../text/normal-form.js'
import type { ExtractionJob, HeldExtractions } from '../extraction-queue.js'

interface Job {
  attempts: number
  notBefore: number
}

/** Memories from which facts are to be derived, by bank. */
export class ExtractionJobs {
  readonly #banks = new Map<string, { key: BankKey, jobs: Map<string, Job> }>()

  note (key: BankKey, memoryIds: readonly string[], now: number): void {
    if (memoryIds.length === 0) return
    const id = bankKeyString(key)
    const bank = this.#banks.get(id) ?? { key: identityOf(key), jobs: new Map<string, Job>() }
    this.#banks.set(id, bank)
    for (const memoryId of memoryIds) bank.jobs.set(memoryId, { attempts: 0, notBefore: now })
  }

  /** Lets noted memories be taken anew: who holds one stores no facts of it. */
  renew (key: BankKey, memoryIds: readonly string[], now: number): void {
    const jobs = this.#jobsOf(key)
    this.note(key, memoryIds.filter((memoryId) => jobs.has(memoryId)), now)
  }

  due ({ now, limit }: { now: number, limit: number }): BankKey[] {
    return [...this.#banks.values()]
      .filter(({ jobs }) => [...jobs.values()].some(({ notBefore }) => notBefore <= now))
      .slice(0, limit).map(({ key }) => key)
  }

  take (key: BankKey, { now, until, limit }: { now: number, until: number, limit: number }): ExtractionJob[] {
    return [...this.#jobsOf(key)].filter(([, { notBefore }]) => notBefore <= now)
      .sort(([a], [b]) => compareText(a, b)).slice(0, limit)
      .map(([memoryId, job]) => {
        job.attempts++
        job.notBefore = until
        return { memoryId, attempts: job.attempts }
      })
  }

  areHeld (key: BankKey, { memoryIds, until }: HeldExtractions): boolean {
    const jobs = this.#jobsOf(key)
    return memoryIds.every((memoryId) => jobs.get(memoryId)?.notBefore === until)
  }

  settle (key: BankKey, held: HeldExtractions, retry?: { retryAt: number, isCounted: boolean }): void {
    const jobs = this.#jobsOf(key)
    for (const memoryId of held.memoryIds) {
      const job = jobs.get(memoryId)
      if (job?.notBefore !== held.until) continue
      if (retry === undefined) this.drop(key, [memoryId])
      else {
        job.notBefore = retry.retryAt
        if (!retry.isCounted) job.attempts--
      }
    }
  }

  /** @param memoryIds default: those of all memories of the bank */
  drop (key: BankKey, memoryIds?: Iterable<string>): void {
    const id = bankKeyString(key)
    const bank = this.#banks.get(id)
    if (bank === undefined) return
    if (memoryIds === undefined) bank.jobs.clear()
    else for (const memoryId of memoryIds) bank.jobs.delete(memoryId)
    if (bank.jobs.size === 0) this.#banks.delete(id)
  }

  clear (): void {
    this.#banks.clear()
  }

  #jobsOf (key: BankKey): Map<string, Job> {
    return this.#banks.get(bankKeyString(key))?.jobs ?? new Map<string, Job>()
  }
}
