import assert from 'node:assert/strict'
import t from 'tap'
import { ServiceError } from '../../../../lib/errors/service-error.js'
import { VectorArena } from '../../../../lib/stores/in-memory/vector-arena.js'
import { VectorIndex } from '../../../../lib/stores/in-memory/vector-index.js'
import { filled, sample } from '../../../helpers/vectors.js'

const PAGE = 65_536

/** Fails unless every vector of `filled` is still found as its own nearest, with cosine 1. */
function checkIntact (index: VectorIndex<number>, dimensions: number): void {
  for (let seed = 0; seed < index.size; seed++) {
    const [nearest] = index.search(sample(seed, dimensions), 1)
    assert.equal(nearest?.payload, seed)
    assert.ok(Math.abs(nearest.score - 1) < 1e-5)
  }
}

function isFull (error: unknown): boolean {
  return (
    error instanceof ServiceError && error.code === 'dependency_unavailable' &&
      /vector store is full/.test(error.detail)
  )
}

await t.test('no memory is loaded before the first vector', async (t) => {
  const moduleUrl = new URL('./no-such.wasm', import.meta.url)
  const arena = new VectorArena({ moduleUrl })
  const index = new VectorIndex<number>(arena, 3)
  t.same(index.search(new Float32Array(3), 5), [], 'an empty index answers')
  t.equal(arena.reservedBytes, 0)
  t.throws(() => index.add(1, new Float32Array(3)), /no-such\.wasm cannot be read; `npm run build` makes it/)
  t.equal(arena.usedBytes, 0)
  t.equal(index.size, 0)
})

await t.test('vectors survive the growth of the memory', async (t) => {
  const arena = new VectorArena()
  const early = filled(arena, 384, 50)
  const before = arena.reservedBytes
  const late = filled(arena, 384, 2000)
  t.ok(arena.reservedBytes > before, 'the memory has grown')
  checkIntact(early, 384)
  t.equal(late.search(sample(0, 384), 1)[0]?.payload, 0)
  t.equal(late.search(sample(1999, 384), 1)[0]?.payload, 1999)
})

await t.test('released memory is reused, whole and in pieces', async (t) => {
  const arena = new VectorArena({ maximumBytes: 32 * PAGE })
  filled(arena, 1, 1)
  filled(arena, 384, 600).release()
  const { usedBytes, reservedBytes } = arena
  for (let round = 0; round < 20; round++) filled(arena, 384, 600).release()
  t.equal(arena.usedBytes, usedBytes)
  t.equal(arena.reservedBytes, reservedBytes, 'an index as large takes no new memory')
  const small = Array.from({ length: 150 }, () => filled(arena, 384, 4))
  t.equal(arena.reservedBytes, reservedBytes, 'many small indexes share the large extents')
  for (const index of small) {
    checkIntact(index, 384)
    index.release()
    index.release()
  }
  t.equal(arena.usedBytes, usedBytes)
  filled(arena, 384, 600)
  t.equal(arena.reservedBytes, reservedBytes, 'the pieces have become large extents again')
})

await t.test('an index that loses its vectors releases memory', async (t) => {
  const arena = new VectorArena()
  filled(arena, 16, 1)
  const empty = arena.usedBytes
  const index = new VectorIndex<number>(arena, 16)
  const entries = Array.from({ length: 1000 }, (_, seed) => index.add(seed, sample(seed, 16)))
  const full = arena.usedBytes - empty
  for (const entry of entries.slice(10)) index.remove(entry)
  t.ok(arena.usedBytes - empty <= full / 16)
  checkIntact(index, 16)
  for (const entry of entries) index.remove(entry)
  t.equal(arena.usedBytes, empty)
  t.same(index.search(new Float32Array(16), 3), [])
})

await t.test('one index can fill half of the arena', async (t) => {
  const arena = new VectorArena({ maximumBytes: 64 * PAGE })
  const rows = 32 * PAGE / 64
  const index = filled(arena, 16, rows)
  t.equal(index.size, rows)
  const [nearest] = index.search(sample(rows - 1, 16), 1)
  t.equal(nearest?.payload, rows - 1)
})

await t.test('a wide index does not disturb narrow ones', async (t) => {
  const arena = new VectorArena()
  const narrow = filled(arena, 3, 10)
  const wide = filled(arena, 2000, 5)
  checkIntact(wide, 2000)
  checkIntact(narrow, 3)
  t.pass()
})

await t.test('thousands of small indexes share one memory', async (t) => {
  const arena = new VectorArena()
  const indexes = Array.from({ length: 2000 }, (_, at) => {
    const index = new VectorIndex<number>(arena, 384)
    for (let i = 0; i < 3; i++) index.add(at * 3 + i, sample(at * 3 + i, 384))
    return index
  })
  t.ok(arena.usedBytes <= 2000 * 8192 + PAGE, `${arena.usedBytes} bytes used`)
  t.ok(arena.reservedBytes <= arena.usedBytes + 16 * PAGE, `${arena.reservedBytes} bytes reserved`)
  for (const [at, index] of indexes.entries()) {
    const [nearest] = index.search(sample(at * 3 + 1, 384), 1)
    assert.equal(nearest?.payload, at * 3 + 1)
  }
})

await t.test('a full arena refuses vectors and continues to answer', async (t) => {
  const arena = new VectorArena({ maximumBytes: 4 * PAGE + 17 })
  const index = filled(arena, 384, 20)
  const refused = () => {
    for (;;) index.add(index.size, sample(index.size, 384))
  }
  t.throws(refused, { name: 'ServiceError', code: 'dependency_unavailable' })
  const { size } = index
  const { usedBytes } = arena
  t.ok(size > 20)
  assert.throws(refused, isFull)
  t.equal(index.size, size, 'the refused vector is not there')
  t.equal(arena.usedBytes, usedBytes)
  t.ok(arena.reservedBytes <= 4 * PAGE)
  checkIntact(index, 384)

  const wide = new VectorIndex<number>(arena, 60_000)
  assert.throws(() => wide.add(1, sample(1, 60_000)), isFull)
  t.equal(wide.size, 0)
  checkIntact(index, 384)

  const other = new VectorIndex<number>(arena, 384)
  assert.throws(() => { for (;;) other.add(other.size, sample(other.size, 384)) }, isFull)
  index.release()
  other.add(other.size, sample(other.size, 384))
  checkIntact(other, 384)
})

await t.test('an arena without a page is full from the start', async () => {
  const index = new VectorIndex<number>(new VectorArena({ maximumBytes: PAGE - 1 }), 3)
  assert.throws(() => index.add(1, new Float32Array(3)), isFull)
})

await t.test('extents are at multiples of their size, and are merged into one at the end', async (t) => {
  const arena = new VectorArena({ maximumBytes: PAGE })
  const [first, second, third, fourth] = [64, 64, 64, 64].map((bytes) => arena.allocate(bytes))
  arena.free(third!)
  const doubled = arena.double(second!)
  t.equal(doubled.bytes, 128)
  t.equal(doubled.offset % 128, 0, 'the third extent was free and beside the second, and yet is not its other half')
  for (const extent of [doubled, first!, fourth!]) arena.free(extent)
  t.same(arena.allocate(PAGE), { offset: 0, bytes: PAGE })
})

await t.test('offsets above 2 GiB work', async (t) => {
  const arena = new VectorArena()
  // Never written to, so the system backs none of it.
  const lower = arena.allocate(2 ** 31)
  const index = filled(arena, 16, 100)
  const { usedBytes } = arena
  checkIntact(index, 16)
  assert.throws(() => arena.allocate(2 ** 31), isFull)
  arena.free(lower)
  t.equal(arena.usedBytes, usedBytes - 2 ** 31)
  checkIntact(index, 16)
})

await t.test('halves above 2 GiB are merged again', async (t) => {
  const arena = new VectorArena()
  arena.allocate(2 ** 31)
  const halves = [arena.allocate(2 ** 30), arena.allocate(2 ** 30)]
  for (const half of halves) arena.free(half)
  t.same(arena.allocate(2 ** 31), { offset: 2 ** 31, bytes: 2 ** 31 })
})
