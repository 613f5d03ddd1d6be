import assert from 'node:assert/strict'
import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import { BLOCK_ROWS, VectorArena } from '../../../../lib/stores/in-memory/vector-arena.js'
import { VectorIndex, type VectorEntry } from '../../../../lib/stores/in-memory/vector-index.js'
import { filled, sample } from '../../../helpers/vectors.js'

/** Rounding of 32-bit sums over a few hundred terms. */
const TOLERANCE = 1e-5

function cosine (a: Float32Array, b: Float32Array): number {
  let dot = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!
    aa += a[i]! * a[i]!
    bb += b[i]! * b[i]!
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa) / Math.sqrt(bb)
}

type Step =
  | { kind: 'add', bank: number, vector: Float32Array }
  | { kind: 'remove', bank: number, which: number }
  | { kind: 'search', bank: number, query: Float32Array, k: number, modulus: number }

const BANKS = 3
const bankNumber = fc.nat({ max: BANKS - 1 })

/** Mostly ordinary vectors, now and then the zero vector or one of extreme length. */
const vectorOf = (dimensions: number): fc.Arbitrary<Float32Array> => fc.oneof(
  { weight: 8, arbitrary: fc.integer().map((seed) => sample(seed, dimensions)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1e-44, 1e-20, 3e38)
      .map((element) => new Float32Array(dimensions).fill(element)),
  },
)

const stepOf = (dimensions: number): fc.Arbitrary<Step> => fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('add' as const), bank: bankNumber, vector: vectorOf(dimensions) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), bank: bankNumber, which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('search' as const),
      bank: bankNumber,
      query: vectorOf(dimensions),
      k: fc.integer({ min: 0, max: 12 }),
      modulus: fc.integer({ min: 1, max: 4 }),
    }),
  },
)

interface Stored {
  entry: VectorEntry<number>
  vector: Float32Array
}

function checkSearch (
  index: VectorIndex<number>, stored: Stored[], query: Float32Array, k: number, modulus: number,
): void {
  const asked: number[] = []
  const found = index.search(query, k, (payload) => {
    asked.push(payload)
    return payload % modulus === 0
  })
  const cosines = new Map(stored.map(({ entry, vector }) => [entry.payload, cosine(query, vector)]))
  const expected = [...cosines].filter(([payload]) => payload % modulus === 0).map(([, score]) => score)
    .sort((a, b) => b - a).slice(0, k)

  assert.equal(new Set(asked).size, asked.length, 'no payload is asked for twice')
  assert.equal(new Set(found.map(({ payload }) => payload)).size, found.length, 'no payload is found twice')
  assert.equal(found.length, expected.length)
  found.forEach(({ payload, score }, rank) => {
    // Near ties may stand in either order, so a rank is compared by its score and a payload by its own cosine.
    assert.equal(payload % modulus, 0)
    assert.ok(Math.abs(score) <= 1)
    assert.ok(
      Math.abs(score - cosines.get(payload)!) < TOLERANCE, `score ${score} of a cosine of ${cosines.get(payload)}`,
    )
    assert.ok(Math.abs(score - expected[rank]!) < TOLERANCE, `rank ${rank} has ${score}, not ${expected[rank]}`)
    assert.ok(rank === 0 || score <= found[rank - 1]!.score, 'falling')
  })
}

await t.test('the index finds what cosines in plain JavaScript find', async (t) => {
  // One arena for all: the indexes lie among one another, in extents with the leftovers of other dimensions.
  const arena = new VectorArena({ maximumBytes: 2 ** 24 })
  for (const dimensions of [1, 3, 4, 7, 16, 384]) {
    filled(arena, dimensions, 1).release()
    const { usedBytes } = arena
    fc.assert(fc.property(fc.array(stepOf(dimensions), { maxLength: 150, size: 'max' }), (steps) => {
      const banks = Array.from({ length: BANKS }, () => ({
        index: new VectorIndex<number>(arena, dimensions), stored: [] as Stored[],
      }))
      for (const [at, step] of steps.entries()) {
        const { index, stored } = banks[step.bank]!
        if (step.kind === 'add') {
          stored.push({ entry: index.add(at, step.vector), vector: step.vector })
        } else if (step.kind === 'remove') {
          const [removed] = stored.splice(step.which % Math.max(1, stored.length), 1)
          if (removed !== undefined) index.remove(removed.entry)
        } else {
          checkSearch(index, stored, step.query, step.k, step.modulus)
        }
        assert.equal(index.size, stored.length)
      }
      for (const { index, stored } of banks) {
        for (const { vector } of stored) checkSearch(index, stored, vector, 1, 1)
      }
      for (const { index } of banks) index.release()
      assert.equal(arena.usedBytes, usedBytes)
      arena.free(arena.allocate(2 ** 23))
    }), { numRuns: 40 })
    t.pass(`${dimensions} dimensions`)
  }
})

await t.test('a scan over several blocks is exact', async (t) => {
  const count = 2 * BLOCK_ROWS + 5
  const index = filled(new VectorArena(), 7, count)
  const query = sample(0.5, 7)
  const expected = Array.from({ length: count }, (_, seed) => ({
    payload: seed, score: cosine(query, sample(seed, 7)),
  }))
    .sort((a, b) => b.score - a.score)
  const found = index.search(query, 25)
  t.same(found.map(({ payload }) => payload), expected.slice(0, 25).map(({ payload }) => payload))
  t.equal(index.search(query, Infinity).length, count, 'k above the size finds all')
})

await t.test('the filter is called only for rows that would enter the result', async (t) => {
  const index = new VectorIndex<string>(new VectorArena(), 2)
  index.add('near', new Float32Array([1, 0.1]))
  index.add('far', new Float32Array([-1, 0]))
  index.add('nearest', new Float32Array([1, 0]))
  const asked: string[] = []
  const found = index.search(new Float32Array([5, 0]), 1, (payload) => asked.push(payload) > 0)
  t.same(found, [{ payload: 'nearest', score: 1 }])
  t.same(asked, ['near', 'nearest'])
  index.search(new Float32Array([5, 0]), 0, () => t.fail('k of 0 asks for nothing'))
})

await t.test('a filter may search and fill other indexes', async (t) => {
  const arena = new VectorArena()
  const index = filled(arena, 3, 20)
  const query = sample(0.5, 3)
  const nested = index.search(query, 5, () => {
    filled(arena, 384, 100).search(sample(1.5, 384), 3)
    return true
  })
  t.same(nested, index.search(query, 5))
})

await t.test('scores are cosines between -1 and 1', async (t) => {
  const index = new VectorIndex<string>(new VectorArena(), 384)
  const vector = sample(1, 384)
  index.add('same', vector)
  index.add('opposite', vector.map((element) => -element))
  index.add('zero', new Float32Array(384))
  const found = index.search(vector.map((element) => element * 1e-6), 3)
  t.same(found.map(({ payload }) => payload), ['same', 'zero', 'opposite'])
  t.same(found.map(({ score }) => Math.round(score * 1e5) / 1e5), [1, 0, -1])
  t.same(index.search(new Float32Array(384), 3).map(({ score }) => score), [0, 0, 0], 'a zero query')
  for (let seed = 0; seed < 200; seed++) {
    const unit = sample(seed, 384)
    const again = new VectorIndex<number>(new VectorArena(), 384)
    again.add(seed, unit)
    assert.ok(again.search(unit, 1)[0]!.score <= 1)
  }
})

await t.test('the index keeps a copy of the vector', async (t) => {
  const index = new VectorIndex<string>(new VectorArena(), 2)
  const vector = new Float32Array([1, 0])
  index.add('one', vector)
  vector.fill(-1)
  t.equal(index.search(new Float32Array([1, 0]), 1)[0]?.score, 1)
})

await t.test('removing is idempotent and never affects another entry', async (t) => {
  const arena = new VectorArena()
  const index = new VectorIndex<string>(arena, 1)
  const other = new VectorIndex<string>(arena, 1)
  const unit = new Float32Array([1])
  const one = index.add('one', unit)
  const two = index.add('two', unit)
  const three = index.add('three', unit)
  const payloads = (of: VectorIndex<string>) => of.search(unit, 9).map(({ payload }) => payload).sort()
  other.add('other', unit)
  other.add('another', unit)
  index.remove(one)
  index.remove(one)
  t.same(payloads(index), ['three', 'two'])
  other.remove(three)
  t.same(payloads(other), ['another', 'other'], 'an entry of another index')
  index.release()
  index.add('four', unit)
  index.add('five', unit)
  index.remove(one)
  index.remove(two)
  t.same(payloads(index), ['five', 'four'], 'entries from before a release')
})

await t.test('vectors of another length, with NaN or with infinity are refused', async (t) => {
  const arena = new VectorArena()
  const index = filled(arena, 3, 2)
  const bad: Array<[number[], RegExp]> = [
    [[1, 2], /has 3 dimensions, not 2/],
    [[1, 2, 3, 4], /has 3 dimensions, not 4/],
    [[], /has 3 dimensions, not 0/],
    [[1, NaN, 3], /Element 1 of the vector is NaN/],
    [[1, 2, Infinity], /Element 2 of the vector is Infinity/],
    [[-Infinity, 2, Infinity], /Element 0 of the vector is -Infinity/],
  ]
  for (const [elements, message] of bad) {
    const vector = new Float32Array(elements)
    t.throws(() => index.add(9, vector), { name: 'RangeError', message })
    t.throws(() => index.search(vector, 1), { name: 'RangeError', message })
  }
  t.equal(index.size, 2)
  t.equal(index.search(sample(1, 3), 1)[0]?.payload, 1, 'the earlier vectors are still found')
  for (const dimensions of [0, -1, 1.5, NaN]) {
    t.throws(() => new VectorIndex(arena, dimensions), { name: 'RangeError', message: /whole number of dimensions/ })
  }
})
