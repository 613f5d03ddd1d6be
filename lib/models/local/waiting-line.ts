/** What waits, in three lanes: what is tried again comes first, then what is urgent, then the rest; within a lane the oldest. */
export class WaitingLine<Entry> {
  readonly #again = new Set<Entry>()
  readonly #urgent = new Set<Entry>()
  readonly #patient = new Set<Entry>()

  /** How many wait in one lane. What is tried again counts in none: it was let in before. */
  waiting (urgent: boolean): number {
    return this.#lane(urgent).size
  }

  /** How many wait in all lanes. */
  get size (): number {
    return this.#lanes().reduce((sum, { size }) => sum + size, 0)
  }

  push (entry: Entry, urgent: boolean): void {
    this.#lane(urgent).add(entry)
  }

  pushAgain (entry: Entry): void {
    this.#again.add(entry)
  }

  /** Moves an entry to the end of the urgent lane, if it waits in the last one. */
  hurry (entry: Entry): void {
    if (this.#patient.delete(entry)) this.#urgent.add(entry)
  }

  delete (entry: Entry): boolean {
    return this.#lanes().some((lane) => lane.delete(entry))
  }

  /** Takes the next entries, all of one lane. What is tried again comes alone, so that it cannot harm others again. */
  take (limit: number): Entry[] {
    const lane = this.#lanes().find(({ size }) => size > 0) ?? this.#again
    const taken: Entry[] = []
    for (const entry of lane) {
      taken.push(entry)
      lane.delete(entry)
      if (taken.length === limit || lane === this.#again) break
    }
    return taken
  }

  /** @returns all that waited */
  clear (): Entry[] {
    const all = this.#lanes().flatMap((lane) => [...lane])
    for (const lane of this.#lanes()) lane.clear()
    return all
  }

  #lane (urgent: boolean): Set<Entry> {
    return urgent ? this.#urgent : this.#patient
  }

  #lanes (): Set<Entry>[] {
    return [this.#again, this.#urgent, this.#patient]
  }
}
