/** No word contains white space (`words`), so neither does a term. */
const SEPARATOR = '\n'

/** Terms with their weights in a form that survives structured cloning. */
export interface PackedForm {
  size: number
  /** The terms, each followed by a line feed but the last. */
  text: string
  /** Absent when all are 1. */
  weights?: readonly number[]
}

/** @param terms terms of analyzeText() */
export function packTerms (terms: ReadonlyMap<string, number>): PackedForm {
  const weights = [...terms.values()]
  return {
    size: terms.size,
    text: [...terms.keys()].join(SEPARATOR),
    ...(!weights.every((weight) => weight === 1) && { weights }),
  }
}

/**
 * Terms with their weights, like the map that they are made from, in a tenth of its memory: as one text, and without
 * the weights when all of them are 1. It is for terms that are kept for later. Every iteration splits the text, and
 * `get` and `has` search it.
 */
export class PackedTerms implements ReadonlyMap<string, number> {
  readonly size: number
  readonly #text: string
  readonly #weights: readonly number[] | undefined

  constructor ({ size, text, weights }: PackedForm) {
    this.size = size
    this.#text = text
    this.#weights = weights
  }

  get (term: string): number | undefined {
    const index = this.#terms().indexOf(term)
    return index === -1 ? undefined : this.#weightAt(index)
  }

  has (term: string): boolean {
    return this.#terms().includes(term)
  }

  forEach (
    callback: (weight: number, term: string, terms: ReadonlyMap<string, number>) => void, thisArg?: unknown,
  ): void {
    for (const [term, weight] of this) callback.call(thisArg, weight, term, this)
  }

  * entries (): MapIterator<[string, number]> {
    for (const [index, term] of this.#terms().entries()) yield [term, this.#weightAt(index)]
  }

  [Symbol.iterator] (): MapIterator<[string, number]> {
    return this.entries()
  }

  keys (): MapIterator<string> {
    return this.#terms().values()
  }

  * values (): MapIterator<number> {
    for (let index = 0; index < this.size; index++) yield this.#weightAt(index)
  }

  #weightAt (index: number): number {
    return this.#weights === undefined ? 1 : this.#weights[index]!
  }

  #terms (): string[] {
    return this.size === 0 ? [] : this.#text.split(SEPARATOR)
  }
}
