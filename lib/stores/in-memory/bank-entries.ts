import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import { byMemoryId } from '../vector-store.js'
import { byAge, isUnexpired, type Accept, type Entry } from './entry.js'

/**
 * The entries of a bank by id, fingerprint, age and expiry. During a change the sorted lists contain both the entries
 * that it adds and those that it removes; callers skip the entries that are not visible. Lookups by id and fingerprint
 * find visible entries only.
 */
export class BankEntries {
  readonly #byId = new SplitMap<Entry>()
  readonly #byFingerprint = new SplitMap<Entry>()
  readonly #ordered = new SortedList<Entry>(byAge)
  readonly #unembedded = new SortedList<Entry>(byMemoryId)
  /** Entries that expire, ascending by expiry. */
  readonly #expiring = new SortedList(byExpiry)
  /** Staged entries with an id or fingerprint of an entry that is about to be removed. */
  readonly #replacementsById = new SplitMap<Entry>()
  readonly #replacementsByFingerprint = new SplitMap<Entry>()

  /** The earliest expiry of a memory. */
  get nextExpiry (): number {
    return this.#expiring.first?.memory.expiresAt ?? Infinity
  }

  byId (memoryId: string): Entry | undefined {
    return visible(this.#byId.get(memoryId)) ?? visible(this.#replacementsById.get(memoryId))
  }

  byFingerprint (fingerprint: string): Entry | undefined {
    return visible(this.#byFingerprint.get(fingerprint)) ?? visible(this.#replacementsByFingerprint.get(fingerprint))
  }

  /** Oldest first. @param isBefore starts at the oldest entry for which it is false */
  ordered (isBefore?: (entry: Entry) => boolean): Generator<Entry> {
    return this.#ordered.forwards(isBefore)
  }

  /** Newest first. @param isBefore starts at the newest entry for which it is true */
  backwards (isBefore?: (entry: Entry) => boolean): Generator<Entry> {
    return this.#ordered.backwards(isBefore)
  }

  /** Entries that have passages without a vector, by id. @param after excludes entries up to this id */
  unembedded (after?: string): Generator<Entry> {
    return this.#unembedded.forwards(after === undefined ? undefined : ({ memory }) => memory.memoryId <= after)
  }

  /** Entries that have expired at `now`. @param after excludes those that had expired at this time */
  * expired (now: number, after = -Infinity): Generator<Entry> {
    for (const entry of this.#expiring.forwards(({ memory }) => memory.expiresAt! <= after)) {
      if (entry.memory.expiresAt! > now) return
      yield entry
    }
  }

  /** `accept`, which also rejects expired entries if there are any left. */
  withoutExpired (accept: Accept, now: number): Accept {
    if (now < this.nextExpiry) return accept
    return (memory) => isUnexpired(memory, now) && (accept === undefined || accept(memory))
  }

  /** Adds an entry under its id and fingerprint; if another entry still has them, it waits for `settle`. */
  add (entry: Entry): void {
    this.#ordered.add(entry)
    if (entry.isUnembedded) this.#unembedded.add(entry)
    const { memoryId, expiresAt } = entry.memory
    if (expiresAt !== null) this.#expiring.add(entry)
    setOrQueue(this.#byId, this.#replacementsById, memoryId, entry)
    setOrQueue(this.#byFingerprint, this.#replacementsByFingerprint, entry.fingerprint, entry)
  }

  /** Registers a waiting entry under its id and fingerprint, after the entry that had them was removed. */
  settle (entry: Entry): void {
    const { memory: { memoryId }, fingerprint } = entry
    if (this.#replacementsById.delete(memoryId)) this.#byId.set(memoryId, entry)
    if (this.#replacementsByFingerprint.delete(fingerprint)) this.#byFingerprint.set(fingerprint, entry)
  }

  /** To be called after an entry received its vectors. */
  noteEmbedded (entry: Entry): void {
    this.#unembedded.remove(entry)
  }

  /** Removes an entry, which must have the same vectors as when it was added or noted as embedded. */
  remove (entry: Entry): void {
    this.#ordered.remove(entry)
    if (entry.isUnembedded) this.#unembedded.remove(entry)
    const { memory: { memoryId, expiresAt }, fingerprint } = entry
    if (expiresAt !== null) this.#expiring.remove(entry)
    if (this.#byId.get(memoryId) === entry) this.#byId.delete(memoryId)
    if (this.#byFingerprint.get(fingerprint) === entry) this.#byFingerprint.delete(fingerprint)
  }
}

function visible (entry: Entry | undefined): Entry | undefined {
  return entry?.isVisible === true ? entry : undefined
}

function setOrQueue (map: SplitMap<Entry>, waiting: SplitMap<Entry>, key: string, entry: Entry): void {
  if (map.get(key) === undefined) map.set(key, entry)
  else waiting.set(key, entry)
}

function byExpiry (a: Entry, b: Entry): number {
  return a.memory.expiresAt! - b.memory.expiresAt! || byMemoryId(a, b)
}
