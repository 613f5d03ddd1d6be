import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import { byAge, byMemoryId, isThere, type Accept, type Entry } from './entry.js'

/**
 * The entries of a bank by id, fingerprint, age and expiry. While a change is under way the ordered lists hold both
 * what it adds and what it removes; a caller skips the entries that are not visible. The look-ups by id and fingerprint
 * find visible entries only.
 */
export class BankEntries {
  readonly #byId = new SplitMap<Entry>()
  readonly #byFingerprint = new SplitMap<Entry>()
  readonly #ordered = new SortedList(byAge)
  readonly #unembedded = new SortedList(byMemoryId)
  /** Entries that expire, the next one first. */
  readonly #expiring = new SortedList(byExpiry)
  /** Staged entries whose id or fingerprint an entry has that is about to be removed. */
  readonly #waitingById = new SplitMap<Entry>()
  readonly #waitingByFingerprint = new SplitMap<Entry>()

  /** When the next memory expires. */
  get nextExpiry (): number {
    return this.#expiring.first?.memory.expiresAt ?? Infinity
  }

  byId (memoryId: string): Entry | undefined {
    return visible(this.#byId.get(memoryId)) ?? visible(this.#waitingById.get(memoryId))
  }

  byFingerprint (fingerprint: string): Entry | undefined {
    return visible(this.#byFingerprint.get(fingerprint)) ?? visible(this.#waitingByFingerprint.get(fingerprint))
  }

  /** Oldest first. @param isBefore the first entry that is given is the oldest for which it is false */
  ordered (isBefore?: (entry: Entry) => boolean): Generator<Entry> {
    return this.#ordered.forwards(isBefore)
  }

  /** Newest first. @param isBefore the first entry that is given is the newest for which it is true */
  backwards (isBefore?: (entry: Entry) => boolean): Generator<Entry> {
    return this.#ordered.backwards(isBefore)
  }

  /** Entries that have passages without a vector, by id. @param after only those after this id */
  unembedded (after?: string): Generator<Entry> {
    return this.#unembedded.forwards(after === undefined ? undefined : ({ memory }) => memory.memoryId <= after)
  }

  /** Entries that have expired at `now`. */
  * expired (now: number): Generator<Entry> {
    for (const entry of this.#expiring.forwards()) {
      if (entry.memory.expiresAt! > now) return
      yield entry
    }
  }

  /** `accept`, and when something has expired that is still there, only what has not. */
  accepting (accept: Accept, now: number): Accept {
    if (now < this.nextExpiry) return accept
    return (memory) => isThere(memory, now) && (accept === undefined || accept(memory))
  }

  /** Adds an entry, which takes its id and its fingerprint unless another entry still has them; then it waits. */
  add (entry: Entry): void {
    this.#ordered.add(entry)
    if (entry.isUnembedded) this.#unembedded.add(entry)
    const { memoryId, expiresAt } = entry.memory
    if (expiresAt !== null) this.#expiring.add(entry)
    putOrWait(this.#byId, this.#waitingById, memoryId, entry)
    putOrWait(this.#byFingerprint, this.#waitingByFingerprint, entry.fingerprint, entry)
  }

  /** Gives a waiting entry its id and its fingerprint, once the entry that had them is removed. */
  settle (entry: Entry): void {
    const { memory: { memoryId }, fingerprint } = entry
    if (this.#waitingById.delete(memoryId)) this.#byId.set(memoryId, entry)
    if (this.#waitingByFingerprint.delete(fingerprint)) this.#byFingerprint.set(fingerprint, entry)
  }

  /** To be called when an entry has been given its vectors. */
  noteEmbedded (entry: Entry): void {
    this.#unembedded.remove(entry)
  }

  /** Removes an entry, which still has the vectors that it had when it was added. */
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

function putOrWait (map: SplitMap<Entry>, waiting: SplitMap<Entry>, key: string, entry: Entry): void {
  if (map.get(key) === undefined) map.set(key, entry)
  else waiting.set(key, entry)
}

function byExpiry (a: Entry, b: Entry): number {
  return a.memory.expiresAt! - b.memory.expiresAt! || byMemoryId(a, b)
}
