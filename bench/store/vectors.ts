import { seededRandom, type Random } from '../http/vocabulary.js'

export const DIMENSIONS = 384
/** Text embeddings lie near a subspace of far fewer dimensions than they have components. */
const RANK = 48
const CLUSTERS = 2000
/**
 * Lengths of a vector's own part inside and outside the low-rank subspace, relative to its cluster's centre, which has
 * length 1.
 */
const SPREAD = 0.75
const NOISE = 0.6

/**
 * An endless supply of unit vectors, the same for the same seed: clusters in a low-rank space, and noise. The nearest
 * of 50,000 neighbours has a cosine of about 0.6, which is harder for an approximate index than most text embeddings
 * are.
 */
export class VectorSource {
  readonly #random: Random
  readonly #gaussian: () => number
  readonly #basis: Float64Array
  readonly #centres: Float64Array

  constructor (seed: number) {
    // The clusters are the same for every seed, so that queries resemble the memories.
    const shape = gaussians(seededRandom(1))
    this.#basis = Float64Array.from({ length: DIMENSIONS * RANK }, () => shape() / Math.sqrt(DIMENSIONS))
    this.#centres = Float64Array.from({ length: CLUSTERS * RANK }, () => shape() / Math.sqrt(RANK))
    this.#random = seededRandom(seed)
    this.#gaussian = gaussians(this.#random)
  }

  next (): Float32Array {
    const cluster = Math.floor(this.#random() * CLUSTERS) * RANK
    const point = new Float64Array(RANK)
    for (let at = 0; at < RANK; at++) {
      point[at] = this.#centres[cluster + at]! + SPREAD * this.#gaussian() / Math.sqrt(RANK)
    }
    const vector = new Float32Array(DIMENSIONS)
    let square = 0
    for (let row = 0; row < DIMENSIONS; row++) {
      let value = NOISE * this.#gaussian() / Math.sqrt(DIMENSIONS)
      for (let at = 0; at < RANK; at++) value += this.#basis[row * RANK + at]! * point[at]!
      vector[row] = value
      square += value * value
    }
    const length = Math.sqrt(square)
    return vector.map((value) => value / length)
  }
}

/** Normally distributed numbers, by the polar method of Box and Muller. */
function gaussians (random: Random): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
