import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { fuse } from '../../../lib/retrieval/fusion.js'
import type { BankKey } from '../../../lib/identity/context.js'
import type { Candidate, Memory } from '../../../lib/stores/vector-store.js'

const HOME: BankKey = { tenantId: null, bankId: 'home' }

function memory (memoryId: string): Memory {
  return { memoryId, text: memoryId, tags: [], metadata: {}, occurredAt: null, retainedAt: 0, expiresAt: null, documentId: null, source: null, tokens: 1 }
}

function candidate (memoryId: string, score: number, bank = HOME): Candidate {
  return { bank, memory: memory(memoryId), score, passageCount: 1, passages: [{ start: 0, end: 1, score }] }
}

function scores (result: ReturnType<typeof fuse>): Array<[string, number]> {
  return result.map(({ memory, score }) => [memory.memoryId, score])
}

t.test('one strategy alone keeps its scores, whatever its weight is', async (t) => {
  const lexical = [candidate('a', 0.9), candidate('b', 0.4)]
  for (const weight of [0.25, 1, 4]) t.strictSame(scores(fuse({ lexical, total: 2 }, { lexical: weight, semantic: 0 })), [['a', 0.9], ['b', 0.4]])
})

t.test('two strategies give the mean by weight, and what only one found gets 0 from the other', async (t) => {
  const result = { lexical: [candidate('a', 1), candidate('b', 0.5)], semantic: [candidate('b', 0.9), candidate('c', 0.6)], total: 3 }
  t.strictSame(scores(fuse(result, { lexical: 3, semantic: 1 })), [['a', 0.75], ['b', (3 * 0.5 + 0.9) / 4], ['c', 0.15]])
})

t.test('each hit tells its rank and score in each strategy that found it', async (t) => {
  const result = { lexical: [candidate('a', 1), candidate('b', 0.5)], semantic: [candidate('b', 0.9)], total: 2 }
  t.strictSame(fuse(result, { lexical: 1, semantic: 1 }).map(({ memory, strategies }) => [memory.memoryId, strategies]), [
    ['b', { lexical: { rank: 2, score: 0.5 }, semantic: { rank: 1, score: 0.9 } }],
    ['a', { lexical: { rank: 1, score: 1 } }],
  ])
})

t.test('equal scores are ordered by memory id', async (t) => {
  const result = { lexical: [candidate('c', 0.5)], semantic: [candidate('a', 0.5), candidate('b', 0.5)], total: 3 }
  t.strictSame(fuse(result, { lexical: 1, semantic: 1 }).map(({ memory }) => memory.memoryId), ['a', 'b', 'c'])
})

t.test('one id in two banks, or in two tenants, is two hits', async (t) => {
  const banks: BankKey[] = [HOME, { tenantId: null, bankId: 'other' }, { tenantId: 'acme', bankId: 'home' }]
  const result = { lexical: banks.map((bank, index) => candidate('a', 0.9 - index / 10, bank)), semantic: banks.map((bank) => candidate('a', 0.5, bank)), total: 3 }
  const fused = fuse(result, { lexical: 1, semantic: 1 })
  t.strictSame(fused.map(({ bank }) => bank), banks)
  for (const { strategies } of fused) t.strictSame(Object.keys(strategies), ['lexical', 'semantic'])
})

t.test('nothing fuses to nothing', async (t) => {
  t.strictSame(fuse({ lexical: [], semantic: [], total: 0 }, { lexical: 1, semantic: 1 }), [])
  t.strictSame(fuse({ total: 0 }, { lexical: 1, semantic: 1 }), [])
})

t.test('every candidate is one hit, its score within 0–1, in falling order, and the input is left alone', async () => {
  const list = fc.uniqueArray(fc.tuple(fc.constantFrom(...'abcdefgh'), fc.double({ min: 0, max: 1, noNaN: true })), { selector: ([id]) => id })
    .map((pairs) => pairs.sort(([, a], [, b]) => b - a).map(([id, score]) => candidate(id, score)))
  const weight = fc.double({ min: 0.01, max: 100, noNaN: true })
  fc.assert(fc.property(list, list, weight, weight, (lexical, semantic, l, s) => {
    const before = JSON.stringify([lexical, semantic])
    const fused = fuse({ lexical, semantic, total: 0 }, { lexical: l, semantic: s })
    assert.deepEqual(new Set(fused.map(({ memory }) => memory.memoryId)), new Set([...lexical, ...semantic].map(({ memory }) => memory.memoryId)))
    fused.forEach(({ memory, score }, index) => {
      const of = (candidates: Candidate[]) => candidates.find((candidate) => candidate.memory.memoryId === memory.memoryId)?.score ?? 0
      assert.ok(Math.abs(score - (l * of(lexical) + s * of(semantic)) / (l + s)) < 1e-9)
      assert.ok(score >= 0 && score <= 1)
      const next = fused[index + 1]
      if (next !== undefined) assert.ok(score > next.score || (score === next.score && memory.memoryId < next.memory.memoryId))
    })
    assert.equal(JSON.stringify([lexical, semantic]), before)
  }))
})
