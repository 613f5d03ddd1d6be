import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { fuse, mergeCandidates, type QueryResults } from '../../../lib/ranking/candidates.js'
import type { BankKey } from '../../../lib/access/context.js'
import type { Candidate } from '../../../lib/stores/vector-store.js'
import { candidate, found, HOME, ids } from './candidates.js'

t.test('a memory that both strategies found is one candidate, with its rank in each', async (t) => {
  const lexical = [candidate('a', { lexical: 1, semantic: 0.2 }), candidate('b', { lexical: 0.5, semantic: 0.9 })]
  const semantic = [
    candidate('b', { lexical: 0.5, semantic: 0.9 }), candidate('c', { lexical: 0, semantic: 0.6 }),
  ].map((one) => ({ ...one, score: one.scores.semantic! }))
  const united = mergeCandidates([{ lexical, semantic, total: 3 }], true)
  t.strictSame(united.map(({ memory, strategies }) => [memory.memoryId, strategies]), [
    ['a', { lexical: { rank: 1, score: 1 }, semantic: { score: 0.2 } }],
    ['b', { lexical: { rank: 2, score: 0.5 }, semantic: { rank: 1, score: 0.9 } }],
    ['c', { lexical: { score: 0 }, semantic: { rank: 2, score: 0.6 } }],
  ])
})

t.test('candidates of further searches have no rank, and known candidates keep theirs', async (t) => {
  const united = mergeCandidates([
    { lexical: [candidate('a', { lexical: 0.9 })], total: 1 },
    { lexical: [candidate('b', { lexical: 0.3 }), candidate('a', { lexical: 0.9 })], total: 2 },
    { lexical: [candidate('b', { lexical: 0.3 })], total: 1 },
  ], true)
  t.strictSame(
    united.map(({ memory, strategies }) => [memory.memoryId, strategies]),
    [['a', { lexical: { rank: 1, score: 0.9 } }], ['b', { lexical: { score: 0.3 } }]],
  )
})

t.test('one id in two banks, or in two tenants, means two candidates', async (t) => {
  const banks: BankKey[] = [HOME, { tenantId: null, bankId: 'other' }, { tenantId: 'acme', bankId: 'home' }]
  const result = {
    lexical: banks.map((bank) => candidate('a', { lexical: 0.9, bank })),
    semantic: banks.map((bank) => candidate('a', { semantic: 0.5, bank })),
    total: 3,
  }
  t.strictSame(mergeCandidates([result], true).map(({ bank }) => bank), banks)
})

t.test('empty lists are merged and fused to an empty list', async (t) => {
  t.strictSame(mergeCandidates([{ lexical: [], semantic: [], total: 0 }, { total: 0 }], true), [])
  for (const method of ['linear', 'rrf'] as const) t.strictSame(fuse([], { lexical: 1, semantic: 1 }, method), [])
})

t.test('linear adds the scores by weight, each as a share of the best one', async (t) => {
  const candidates = found(
    candidate('a', { lexical: 0.4, semantic: 0.5 }), candidate('b', { lexical: 0.1, semantic: 0.25 }),
    candidate('c', { lexical: 0.2 }),
  )
  t.strictSame(fuse(candidates, { lexical: 1, semantic: 0 }, 'linear'), [1, 0.25, 0.5])
  const rounded = fuse(candidates, { lexical: 2, semantic: 3 }, 'linear').map((sum) => Math.round(sum * 1e9) / 1e9)
  t.strictSame(rounded, [5, 2, 3.4], 'a memory without a vector is neither near nor far')
})

t.test('without scores nothing is added', async (t) => {
  t.strictSame(
    fuse(found(candidate('a', { lexical: 0 }), candidate('b')), { lexical: 1, semantic: 1 }, 'linear'), [0, 0],
  )
})

t.test('rrf uses the ranks alone, and gives the weight to the first rank', async (t) => {
  const candidates = mergeCandidates([
    {
      lexical: [candidate('a', { lexical: 0.9 }), candidate('b', { lexical: 0.01 })],
      semantic: [candidate('b', { semantic: 0.3 })],
      total: 2,
    },
    { lexical: [candidate('c', { lexical: 0.8 })], total: 1 },
  ], true)
  const [a, b, c] = fuse(candidates, { lexical: 2, semantic: 1 }, 'rrf')
  t.equal(a, 2)
  t.ok(b! > 2.9 && b! < 3)
  t.equal(c, 0, 'a candidate without a rank')
})

const score = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)
const list = fc.uniqueArray(fc.tuple(fc.constantFrom(...'abcdefgh'), score, score), { selector: ([id]) => id })

t.test('every memory is one candidate, whatever was searched for, and the inputs are not modified', async () => {
  const finds = (pairs: Array<[string, number, number]>): Candidate[] =>
    pairs.map(([id, lexical, semantic]) => candidate(id, { lexical, semantic }))
  fc.assert(fc.property(list, list, list, (lexical, semantic, further) => {
    const results: QueryResults =
      [{ lexical: finds(lexical), semantic: finds(semantic), total: 0 }, { lexical: finds(further), total: 0 }]
    const before = JSON.stringify(results)
    const united = mergeCandidates(results, true)
    assert.equal(JSON.stringify(results), before)
    assert.equal(new Set(ids(united)).size, united.length)
    assert.deepEqual(new Set(ids(united)), new Set([...lexical, ...semantic, ...further].map(([id]) => id)))
    assert.deepEqual(ids(mergeCandidates(results, false)), ids(united))
  }))
})

t.test('a fused score is within 0 and the sum of the weights, and rises with every score', async () => {
  const weight = fc.integer({ min: 0, max: 1000 }).map((hundredths) => hundredths / 100)
  fc.assert(fc.property(list, weight, weight, (pairs, lexical, semantic) => {
    const candidates =
      found(...pairs.map(([id, byWords, byMeaning]) => candidate(id, { lexical: byWords, semantic: byMeaning })))
    for (const method of ['linear', 'rrf'] as const) {
      for (const sum of fuse(candidates, { lexical, semantic }, method)) {
        assert.ok(sum >= 0 && sum <= (lexical + semantic) * (1 + 1e-12))
      }
    }
    const sums = fuse(candidates, { lexical, semantic }, 'linear')
    candidates.forEach((one, i) => candidates.forEach((other, j) => {
      if (one.scores.lexical! <= other.scores.lexical! && one.scores.semantic! <= other.scores.semantic!) {
        assert.ok(sums[i]! <= sums[j]!)
      }
    }))
  }))
})
