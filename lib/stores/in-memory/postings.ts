/**
 * The block of a pool that lists the passages of one term, in order of insertion. Its size is `count` rounded up to a
 * power of two.
 */
export interface Postings {
  readonly term: string
  /** Number of passages that are not taken out. */
  live: number
  /** The term's document frequency: those of `live` that readers see, without the current change. */
  documentFrequency: number
  /** What the current change adds to `documentFrequency`. */
  frequencyChange: number
  /** Number of passages, including those taken out. */
  count: number
  start: number
}

/** A part of the pool. */
export interface Slab {
  /** Ordinals of passages. */
  ordinals: Uint32Array
  /** The weight of the term in each passage. */
  weights: Float32Array
}

const MIN_SLAB_ELEMENTS = 64
/** V8 represents a substring of at least this length as a view, which keeps the original string in memory. */
const MIN_SLICED_CHARACTERS = 13
const SLAB_BITS = 17
/** Number of elements of a slab, and so of those copied when a pool grows. Only a larger block makes a larger slab. */
const SLAB_ELEMENTS = 2 ** SLAB_BITS

/**
 * The postings of all terms of one index, in typed arrays. A pair of arrays for each term would be simpler, but most
 * terms are in one or two passages, and a typed array costs some 200 bytes and a microsecond however short it is. A
 * term has a block of 1, 2, 4, ... elements; when it outgrows the block, other terms reuse it, whole or in halves.
 */
export class PostingsPool {
  #slabs: Slab[] = []
  /** Number of elements of the last slab that are allocated. */
  #used = 0
  /** Starts of free blocks, by the binary logarithm of their size. */
  #free: number[][] = []

  /** Creates the postings of a term that no passage contains yet. */
  create (term: string): Postings {
    // The term outlives the text that contains it, so a long one is copied.
    const own = term.length < MIN_SLICED_CHARACTERS ? term : Buffer.from(term, 'utf16le').toString('utf16le')
    return { term: own, live: 0, documentFrequency: 0, frequencyChange: 0, count: 0, start: this.#allocate(1) }
  }

  /** The slab of a block. To be read again after `create` and `push`. */
  slabOf ({ start }: Postings): Slab {
    return this.#slabs[start >>> SLAB_BITS]!
  }

  /** The offset of a block in its slab. */
  offsetOf ({ start }: Postings): number {
    return start & (SLAB_ELEMENTS - 1)
  }

  push (postings: Postings, ordinal: number, weight: number): void {
    if (postings.count > 0 && postings.count === powerOfTwo(postings.count)) this.#growBlock(postings)
    const { ordinals, weights } = this.slabOf(postings)
    const at = this.offsetOf(postings) + postings.count
    ordinals[at] = ordinal
    weights[at] = weight
    postings.count += 1
    postings.live += 1
  }

  /** Frees the block; the postings must not be used again. */
  release ({ start, count }: Postings): void {
    this.#freeBlock(start, logarithm(powerOfTwo(count)))
  }

  /**
   * Deletes the passages that were taken out, and frees the unused part of the block.
   * @param states by ordinal: 0 for passages taken out
   */
  sweep (postings: Postings, states: Uint8Array): void {
    if (postings.live === postings.count) return
    const slab = this.slabOf(postings)
    const place = this.offsetOf(postings)
    const kept = compactBlock(slab, place, postings.count, states)
    const size = logarithm(powerOfTwo(kept))
    const from = this.#trim(postings.start, logarithm(powerOfTwo(postings.count)), size)
    for (let half = from - 1; half >= size; half--) this.#freeBlock(postings.start + 2 ** half, half)
    postings.count = kept
  }

  /**
   * Shrinks a slab that consists of a single large block, because a start addresses whole slabs and the block's halves
   * would have none.
   * @returns the binary logarithm of the block's new size
   */
  #trim (start: number, from: number, to: number): number {
    if (from <= SLAB_BITS || from === to) return from
    const size = Math.max(to, SLAB_BITS)
    const { ordinals, weights } = this.#slabs[start >>> SLAB_BITS]!
    this.#slabs[start >>> SLAB_BITS] = { ordinals: ordinals.slice(0, 2 ** size), weights: weights.slice(0, 2 ** size) }
    if (start >>> SLAB_BITS === this.#slabs.length - 1) this.#used = SLAB_ELEMENTS
    return size
  }

  #freeBlock (start: number, from: number): void {
    const size = this.#trim(start, from, Math.min(from, SLAB_BITS))
    while (this.#free.length <= size) this.#free.push([])
    this.#free[size]!.push(start)
  }

  #growBlock (postings: Postings): void {
    const { start, count } = postings
    const { ordinals, weights } = this.slabOf(postings)
    const from = this.offsetOf(postings)
    const wider = this.#allocate(count * 2)
    postings.start = wider
    const to = this.slabOf(postings)
    const place = this.offsetOf(postings)
    to.ordinals.set(ordinals.subarray(from, from + count), place)
    to.weights.set(weights.subarray(from, from + count), place)
    this.#freeBlock(start, logarithm(count))
  }

  /** @returns the start of a block of this size */
  #allocate (places: number): number {
    const size = logarithm(places)
    for (let larger = size; larger < this.#free.length; larger++) {
      const free = this.#free[larger]!.pop()
      if (free === undefined) continue
      // The upper halves of a block that is larger than needed stay free.
      for (let half = larger - 1; half >= size; half--) this.#freeBlock(free + 2 ** half, half)
      return free
    }
    if (this.#slabs.length === 0 || this.#used + places > SLAB_ELEMENTS) this.#addSlab(places)
    const last = this.#slabs.length - 1
    const start = this.#used
    this.#used += places
    if (this.#used > this.#slabs[last]!.ordinals.length) {
      this.#slabs[last] = grown(this.#slabs[last]!, Math.max(MIN_SLAB_ELEMENTS, this.#used, Math.ceil(start * 1.5)))
    }
    return last * SLAB_ELEMENTS + start
  }

  /** The rest of the last slab becomes free blocks. */
  #addSlab (places: number): void {
    const last = this.#slabs.length - 1
    for (let left = Math.min(SLAB_ELEMENTS, this.#slabs[last]?.ordinals.length ?? 0) - this.#used; left > 0;) {
      const size = logarithm(left)
      this.#freeBlock(last * SLAB_ELEMENTS + this.#used, size)
      this.#used += 2 ** size
      left -= 2 ** size
    }
    this.#slabs.push(slab(last < 0 ? Math.max(MIN_SLAB_ELEMENTS, places) : Math.max(SLAB_ELEMENTS, places)))
    this.#used = 0
  }
}

// Separate from its caller, which runs too rarely to be compiled: that halves the time of a sweep.
function compactBlock ({ ordinals, weights }: Slab, place: number, count: number, states: Uint8Array): number {
  let next = place
  for (let i = place; i < place + count; i++) {
    const ordinal = ordinals[i]!
    if (states[ordinal] === 0) continue
    ordinals[next] = ordinal
    weights[next] = weights[i]!
    next += 1
  }
  return next - place
}

function slab (places: number): Slab {
  return { ordinals: new Uint32Array(places), weights: new Float32Array(places) }
}

function grown ({ ordinals, weights }: Slab, places: number): Slab {
  const larger = slab(Math.min(places, SLAB_ELEMENTS))
  larger.ordinals.set(ordinals)
  larger.weights.set(weights)
  return larger
}

function logarithm (powerOfTwo: number): number {
  return 31 - Math.clz32(powerOfTwo)
}

/** @returns the least power of two that is not below the number, at least 1 */
function powerOfTwo (number: number): number {
  return number <= 1 ? 1 : 1 << (32 - Math.clz32(number - 1))
}
