/** Maximum number of entries of a part: V8 copies that many in about a millisecond when a Map grows. */
const MAX_ENTRIES = 8192
const WAYS = 16
const WAY_BITS = 4
/** Keys with equal 32-bit hashes cannot be split further. */
const MAX_DEPTH = 32 / WAY_BITS - 1

// Random in each process, so that nobody can prepare keys whose hashes collide.
const SEED = Math.floor(Math.random() * 2 ** 32)

/**
 * A map from strings that does not block the event loop: a Map that grows to a million entries is copied several times,
 * for 50 ms and more each, so a large one is split by a hash of the key. A small one is a single Map.
 */
export class SplitMap<V> {
  readonly #depth: number
  #leaf: Map<string, V> | undefined = new Map()
  #parts: Array<SplitMap<V>> | undefined
  /** Number of entries of the whole map; maintained only at the root. */
  #size = 0

  constructor (depth = 0) {
    this.#depth = depth
  }

  get size (): number {
    return this.#size
  }

  get (key: string): V | undefined {
    return (this.#leaf ?? this.#leafOf(key)).get(key)
  }

  set (key: string, value: V): void {
    const leaf = this.#leaf
    if (leaf === undefined) {
      this.#setInPart(key, value)
      return
    }
    leaf.set(key, value)
    this.#size = leaf.size
    if (leaf.size > MAX_ENTRIES && this.#depth <= MAX_DEPTH) this.#split(leaf)
  }

  delete (key: string): boolean {
    const deleted = (this.#leaf ?? this.#leafOf(key)).delete(key)
    if (deleted && --this.#size === 0 && this.#leaf === undefined) {
      this.#parts = undefined
      this.#leaf = new Map()
    }
    return deleted
  }

  /** In no particular order. Entries set or deleted during the iteration may or may not be yielded. */
  * values (): Generator<V> {
    if (this.#leaf !== undefined) yield * this.#leaf.values()
    else for (const part of this.#parts!) yield * part.values()
  }

  /** As values(). */
  * entries (): Generator<[string, V]> {
    const open: Array<SplitMap<V>> = [this]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node.#leaf === undefined) open.push(...node.#parts!)
      else yield * node.#leaf
    }
  }

  #leafOf (key: string): Map<string, V> {
    const hash = hashOf(key)
    let node = this as SplitMap<V>
    while (node.#parts !== undefined) node = node.#parts[(hash >>> (WAY_BITS * node.#depth)) & (WAYS - 1)]!
    return node.#leaf!
  }

  #setInPart (key: string, value: V): void {
    const hash = hashOf(key)
    let node = this as SplitMap<V>
    while (node.#parts !== undefined) node = node.#parts[(hash >>> (WAY_BITS * node.#depth)) & (WAYS - 1)]!
    const leaf = node.#leaf!
    const before = leaf.size
    leaf.set(key, value)
    this.#size += leaf.size - before
    if (leaf.size > MAX_ENTRIES && node.#depth <= MAX_DEPTH) node.#split(leaf)
  }

  #split (leaf: Map<string, V>): void {
    this.#parts = Array.from({ length: WAYS }, () => new SplitMap<V>(this.#depth + 1))
    this.#leaf = undefined
    for (const [key, value] of leaf) {
      this.#parts[(hashOf(key) >>> (WAY_BITS * this.#depth)) & (WAYS - 1)]!.set(key, value)
    }
  }
}

/** FNV-1a with a final round that mixes the bits. */
function hashOf (key: string): number {
  let hash = SEED
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ hash >>> 15, 0x2c1b3c6d)
  return (hash ^ hash >>> 13) >>> 0
}
