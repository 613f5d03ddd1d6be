import t from 'tap'
import { runSync } from '../../../../lib/concurrency/steps.js'
import { Bank } from '../../../../lib/stores/in-memory/bank.js'
import { lexicalSearch } from '../../../../lib/stores/in-memory/lexical-search.js'
import { VectorArena } from '../../../../lib/stores/in-memory/vector-arena.js'
import type { LexicalRequest, NewMemory } from '../../../../lib/stores/vector-store.js'
import { newMemory, NOW } from '../../../helpers/memories.js'

const EXPIRY = NOW + 1000

function bankOf (memories: readonly NewMemory[]): Bank {
  const bank = new Bank({ tenantId: null, bankId: 'home' }, new VectorArena())
  runSync(bank.apply(memories, []))
  return bank
}

function search (bank: Bank, length: LexicalRequest['length'], now: number): unknown {
  const options = { limit: 5, accept: undefined, now, requested: [], countsUnembedded: false }
  const request = { terms: ['green', 'tea'], k1: 1, length, context: true }
  const { found, total } = runSync(lexicalSearch(bank, request, options))
  return { total, found: found.map(({ entry, score }) => [entry.memory.text, score]) }
}

for (const length of [{ pivot: 25 }, { b: 0.75 }]) {
  await t.test(`scores do not count what has expired, while it is being removed, with ${Object.keys(length)[0]}`, async (t) => {
    const staying: NewMemory[] = []
    const expiring: NewMemory[] = []
    for (let i = 0; i < 20; i++) staying.push(await newMemory(i % 3 === 0 ? `green number ${i}` : `tea number ${i}`))
    for (let i = 0; i < 40; i++) expiring.push(await newMemory(`tea and cake number ${i}`, { expiresAt: EXPIRY }))
    const bank = bankOf([...staying, ...expiring])
    const expected = search(bankOf(staying), length, EXPIRY)
    t.strictNotSame(search(bank, length, NOW), expected)
    const removal = bank.apply([], [...bank.entries.expired(EXPIRY)], { hidden: true })
    let steps = 0
    const differing: number[] = []
    do {
      if (JSON.stringify(search(bank, length, EXPIRY)) !== JSON.stringify(expected)) differing.push(steps)
      steps++
    } while (removal.next().done !== true)
    t.strictSame(differing, [], `of ${steps} steps`)
    t.strictSame(search(bank, length, EXPIRY), expected)
  })
}
