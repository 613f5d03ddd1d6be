/**
 * A queue with three priorities: retries, urgent entries, normal entries. Each is first in, first out. It is our own
 * because the order of work in front of piscina is our own.
 */
export class PriorityQueue<Entry> {
  readonly #retries = new Set<Entry>()
  readonly #urgent = new Set<Entry>()
  readonly #normal = new Set<Entry>()

  /** The number of urgent or of normal entries. Retries count in neither, because they were admitted before. */
  waiting (urgent: boolean): number {
    return this.#queue(urgent).size
  }

  /** The number of all entries. */
  get size (): number {
    return this.#queues().reduce((sum, { size }) => sum + size, 0)
  }

  push (entry: Entry, urgent: boolean): void {
    this.#queue(urgent).add(entry)
  }

  pushRetry (entry: Entry): void {
    this.#retries.add(entry)
  }

  /** Makes a normal entry urgent, behind the other urgent ones. */
  promote (entry: Entry): void {
    if (this.#normal.delete(entry)) this.#urgent.add(entry)
  }

  delete (entry: Entry): boolean {
    return this.#queues().some((queue) => queue.delete(entry))
  }

  /** Takes the next entries, all of one priority. A retry is taken alone, so that it cannot make others fail again. */
  take (limit: number): Entry[] {
    const queue = this.#queues().find(({ size }) => size > 0) ?? this.#retries
    const taken: Entry[] = []
    for (const entry of queue) {
      taken.push(entry)
      queue.delete(entry)
      if (taken.length === limit || queue === this.#retries) break
    }
    return taken
  }

  /** Removes and returns all entries. */
  clear (): Entry[] {
    const all = this.#queues().flatMap((queue) => [...queue])
    for (const queue of this.#queues()) queue.clear()
    return all
  }

  #queue (urgent: boolean): Set<Entry> {
    return urgent ? this.#urgent : this.#normal
  }

  #queues (): Set<Entry>[] {
    return [this.#retries, this.#urgent, this.#normal]
  }
}
