import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ModelStatus } from './status.js'

/** Texts whose vectors are wanted; each distinct one has a key. */
interface SplitTexts {
  /** The key of each text, in order. */
  keys: string[]
  /** The cached vectors by key. */
  found: Map<string, Float32Array>
  /** The texts without a cached vector by key. */
  missing: Map<string, string>
}

/** Vectors of the latest texts, by a hash of the text, which is shorter. */
export class VectorCache {
  readonly #vectors: LRUCache<string, Float32Array> | undefined
  #hits = 0
  #misses = 0

  /** @param size maximum number of vectors; 0 for no cache */
  constructor (size: number) {
    if (size > 0) this.#vectors = new LRUCache({ max: size })
  }

  get status (): NonNullable<ModelStatus['cache']> {
    return { hits: this.#hits, misses: this.#misses }
  }

  /** @param kind texts of different kinds have different vectors, even if they are equal */
  split (texts: readonly string[], kind = ''): SplitTexts {
    const keys = texts.map((text) => createHash('sha256').update(kind + text).digest('base64'))
    const found = new Map<string, Float32Array>()
    const missing = new Map<string, string>()
    keys.forEach((key, index) => {
      const vector = this.#vectors?.get(key)
      if (vector === undefined) missing.set(key, texts[index]!)
      else found.set(key, vector)
    })
    this.#hits += found.size
    this.#misses += missing.size
    return { keys, found, missing }
  }

  set (key: string, vector: Float32Array): void {
    this.#vectors?.set(key, vector)
  }
}
