import { BATCH, isExpectedRefusal, type Write } from './writes.js'

/** A text that a memory has or had. */
export interface Found {
  memoryId: string
  text: string
  tags: string[]
  /** Whether the memory has another text now. */
  isEarlier: boolean
  isCurrent: boolean
}

export interface Check {
  /** Memories of this round whose retain was answered 2xx. */
  acknowledged: number
  /** Memories of this round that exist although no answer acknowledged them. */
  unacknowledgedFound: number
  /**
   * Memories of this and every earlier round that were acknowledged or found once, and are now missing or different.
   */
  lost: number
  /** Memories beyond the first with the same content, or the same id. */
  duplicates: number
  /** Batches that exist only in part. */
  partial: number
  /** Memories that no client wrote. */
  unknown: number
  /** Answers that are neither 2xx nor 503 nor 409 for a key in flight. */
  wrongAnswers: number
  refused: number
  broken: number
  /** Examples of what is wrong: the first ones of each kind. */
  examples: string[]
}

/** What the clients of a run know: the memories that were acknowledged, and those that were read back once. */
export class History {
  readonly #written = new Set<string>()
  /** Text by placeOf. */
  readonly #expected = new Map<string, string>()

  /** Compares the memories found with all that were ever acknowledged or found. */
  check (writes: readonly Write[], found: readonly Found[]): Check {
    const examples: string[] = []
    const acknowledged = new Set<string>()
    for (const { contents, outcome, changes } of writes) {
      for (const content of contents) this.#written.add(content)
      if (outcome.state === 'acknowledged') {
        contents.forEach(
          (content, index) => {
            this.#expect(acknowledged, placeOf(outcome.memoryIds[index]!, changes !== undefined), content, examples)
          },
        )
      }
    }
    const changed = new Set(found.filter(({ isEarlier }) => isEarlier).map(({ memoryId }) => memoryId))
    const places = new Map(found.map((one) => (
      [one, placeOf(one.memoryId, changed.has(one.memoryId) && !one.isEarlier)]
    )))
    const byId = new Map(found.map((one) => [places.get(one)!, one.text]))
    const byText = new Map(found.map(({ memoryId, text }) => [text, memoryId]))
    const lost = [...this.#expected].filter(([id, text]) => byId.get(id) !== text)
    const unknown = found.filter(({ text }) => !this.#written.has(text))
    const unacknowledged = new Set(
      writes.flatMap(({ contents }) => contents).filter((content) => byText.has(content) && !acknowledged.has(content)),
    )
    const partial = writes.filter(({ contents }) =>
      ![0, BATCH].includes(contents.filter((content) => byText.has(content)).length) && contents.length === BATCH)
    const wrong = writes.flatMap(({ outcome }) => (
      outcome.state === 'refused' && !isExpectedRefusal(outcome.status, outcome.text) ? [outcome] : []
    ))
    if (lost[0] !== undefined) examples.push(`lost: ${lost[0].join(' ')}`)
    if (unknown[0] !== undefined) examples.push(`not written by any client: ${unknown[0].text}`)
    if (partial[0] !== undefined) examples.push(`partial batch: ${partial[0].contents.join(' | ')}`)
    if (wrong[0] !== undefined) examples.push(`answered ${wrong[0].status}: ${wrong[0].text.slice(0, 500)}`)
    for (const one of found) this.#expected.set(places.get(one)!, one.text)
    return {
      acknowledged: acknowledged.size,
      unacknowledgedFound: unacknowledged.size,
      lost: lost.length,
      duplicates: found.length - Math.min(byText.size, byId.size),
      partial: partial.length,
      unknown: unknown.length,
      wrongAnswers: wrong.length,
      refused: writes.filter(({ outcome }) => outcome.state === 'refused').length,
      broken: writes.filter(({ outcome }) => outcome.state === 'broken').length,
      examples,
    }
  }

  #expect (acknowledged: Set<string>, place: string, content: string, examples: string[]): void {
    const known = this.#expected.get(place)
    if (known !== undefined && known !== content) examples.push(`one id for two contents: ${place}`)
    this.#expected.set(place, content)
    acknowledged.add(content)
  }
}

/** Where a text is to be found: a memory has its first one, and the one that it was changed to. */
function placeOf (memoryId: string, isChange: boolean): string {
  return isChange ? `${memoryId}, changed` : memoryId
}
