import type { VectorArena } from '../../lib/stores/in-memory/vector-arena.js'
import { VectorIndex } from '../../lib/stores/in-memory/vector-index.js'

/** A different vector for every seed, and the same at every call. */
export function sample (seed: number, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, (_, at) => Math.sin((seed + 1) * (at + 1)))
}

/** `count` vectors in a new index; the payload of each is its seed. */
export function filled (arena: VectorArena, dimensions: number, count: number): VectorIndex<number> {
  const index = new VectorIndex<number>(arena, dimensions)
  for (let seed = 0; seed < count; seed++) index.add(seed, sample(seed, dimensions))
  return index
}
