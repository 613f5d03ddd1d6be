import t from 'tap'
import { runSync, type Steps } from '../../../../lib/concurrency/steps.js'
import { Bank } from '../../../../lib/stores/in-memory/bank.js'
import { lexicalSearch, type LexicalResult } from '../../../../lib/stores/in-memory/lexical-search.js'
import { VectorArena } from '../../../../lib/stores/in-memory/vector-arena.js'
import type { LexicalRequest, NewMemory } from '../../../../lib/stores/vector-store.js'
import { newMemory, NOW } from '../../../helpers/memories.js'

const EXPIRY = NOW + 1000

function bankOf (memories: readonly NewMemory[]): Bank {
  const bank = new Bank({ tenantId: null, bankId: 'home' }, new VectorArena())
  runSync(bank.apply(memories, []))
  return bank
}

function searching (bank: Bank, length: LexicalRequest['length'], now: number): Steps<LexicalResult> {
  const options = { limit: 5, accept: undefined, now, requested: [], countsUnembedded: false }
  return lexicalSearch(bank, { terms: ['green', 'tea'], k1: 1, length, context: true }, options)
}

function shown ({ found, total }: LexicalResult): unknown {
  return { total, found: found.entries.map(({ memory }, place) => [memory.text, found.scores[place]]) }
}

function search (bank: Bank, length: LexicalRequest['length'], now: number): unknown {
  return shown(runSync(searching(bank, length, now)))
}

for (const length of [{ pivot: 25 }, { b: 0.75 }]) {
  await t.test('scores do not count expired memories while they are being removed, with ' +
    `${Object.keys(length)[0]}`, async (t) => {
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

await t.test('a search reads only the memories that have expired since the last one', async (t) => {
  const length = { b: 0.75 }
  const memories: NewMemory[] = []
  for (let i = 0; i < 40; i++) memories.push(await newMemory(i % 3 === 0 ? `green number ${i}` : `tea number ${i}`))
  for (let i = 0; i < 600; i++) {
    memories.push(await newMemory(`tea and cake ${i}`, { expiresAt: EXPIRY + Math.floor(i / 100) }))
  }
  const bank = bankOf(memories)
  const expected = (now: number) => (
    search(bankOf(memories.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)), length, now)
  )
  const stepsAt = (now: number) => {
    const steps = searching(bank, length, now)
    for (let count = 0; ; count++) {
      const { done, value } = steps.next()
      if (done !== true) continue
      t.strictSame(shown(value), expected(now))
      return count
    }
  }
  t.equal(stepsAt(NOW), 0)
  t.equal(stepsAt(EXPIRY + 2), 300)
  t.equal(stepsAt(EXPIRY + 2), 0)
  t.equal(stepsAt(EXPIRY + 3), 100)
  t.equal(stepsAt(EXPIRY + 3), 0)
  t.equal(stepsAt(EXPIRY), 100, 'an earlier time')
  t.equal(stepsAt(EXPIRY + 1), 100)
  const removed = bank.entries.byId(memories[50]!.memoryId)!
  memories.splice(50, 1)
  runSync(bank.apply([], [removed], { hidden: true }))
  t.equal(stepsAt(EXPIRY + 1), 199, 'after a change of the bank')
  t.equal(stepsAt(EXPIRY + 1), 0)

  const first = searching(bank, length, EXPIRY + 3)
  for (let step = 0; step < 50; step++) first.next()
  t.equal(stepsAt(EXPIRY + 2), 100, 'while another search is suspended')
  t.strictSame(shown(runSync(first)), expected(EXPIRY + 3))
  t.equal(stepsAt(EXPIRY + 4), 100)
})

await t.test('a search suspended while it counts the expired documents does not count those that a ' +
  'write appends', async (t) => {
  const length = { pivot: 25 }
  const make = async (expiresAt: number | null) => await newMemory('tea', { expiresAt })
  const expiring = await Promise.all(Array.from({ length: 20_000 }, async () => await make(EXPIRY)))
  const staying = await Promise.all(Array.from({ length: 10 }, async () => await make(null)))
  const bank = bankOf([...expiring, ...staying])
  const expected = search(bankOf(staying), length, EXPIRY)
  t.strictSame(search(bank, length, EXPIRY), expected)
  const suspended = searching(bank, length, EXPIRY)
  suspended.next()
  const { version } = bank
  const added = await Promise.all(Array.from({ length: 500 }, async () => await make(EXPIRY)))
  const write = bank.apply(added, [], { hidden: true })
  for (let step = 0; step < 1200; step++) write.next()
  t.equal(bank.version, version)
  t.strictSame(shown(runSync(suspended)), expected)
  t.strictSame(search(bank, length, EXPIRY), expected)
})
