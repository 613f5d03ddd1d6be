import t from 'tap'
import { runSync, type Steps } from '../../../../lib/concurrency/steps.js'
import { Bank } from '../../../../lib/stores/in-memory/bank.js'
import type { Entry } from '../../../../lib/stores/in-memory/entry.js'
import { QueryFactors, scoreTerms } from '../../../../lib/stores/in-memory/lexical-scoring.js'
import { candidateArraysOf, releaseScratch, takeScratch } from '../../../../lib/stores/in-memory/lexical-scratch.js'
import { lexicalSearch, type LexicalResult } from '../../../../lib/stores/in-memory/lexical-search.js'
import { VectorArena } from '../../../../lib/stores/in-memory/vector-arena.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { newMemory, NOW } from '../../../helpers/memories.js'

/** As many postings as a search reads before it is suspended. */
const STEP = 16_384

const template = await newMemory('x')
let made = 0

function memoryWith (...words: string[]): NewMemory {
  const id = `01890000-0000-7000-8000-${String(++made).padStart(12, '0')}`
  const terms = new Map(words.map((word) => [word, 1]))
  return {
    ...template,
    memoryId: id,
    fingerprint: id,
    retainedAt: NOW + made,
    passages: [{ start: 0, end: 1, terms, length: words.length }],
  }
}

function bankOf (memories: readonly NewMemory[]): Bank {
  const bank = new Bank({ tenantId: null, bankId: 'home' }, new VectorArena())
  runSync(bank.apply(memories, []))
  return bank
}

function search (bank: Bank, terms: readonly string[], context: boolean): Steps<LexicalResult> {
  const options = { limit: 50, accept: undefined, now: NOW, requested: [], countsUnembedded: false }
  return lexicalSearch(bank, { terms, k1: 1, length: { pivot: 2 }, context }, options)
}

function shown ({ found, total }: LexicalResult): unknown {
  return { total, found: found.entries.map(({ memory }, place) => [memory.memoryId, found.scores[place]]) }
}

/** The steps of a write, and those before the one that commits it. */
function countSteps (bank: Bank, write: Steps<void>): { all: number, beforeCommit: number } {
  const { version } = bank
  let beforeCommit = -1
  for (let all = 1; ; all++) {
    const isDone = write.next().done === true
    if (beforeCommit < 0 && bank.version > version) beforeCommit = all - 1
    if (isDone) return { all, beforeCommit }
  }
}

for (const context of [false, true]) {
  await t.test('a write that is not committed moves postings that searches ' +
    `read${context ? ', in context' : ''}`, async (t) => {
    const filler = Array.from({ length: STEP }, () => memoryWith('filler'))
    const memories = [...filler, memoryWith('word'), memoryWith('word'), memoryWith('other')]
    // `other` takes the block that `word` outgrows.
    const added = [memoryWith('word', 'other'), memoryWith('word')]
    const { beforeCommit } = countSteps(...written(bankOf(memories), added, []))
    const [bank, write] = written(bankOf(memories), added, [])
    const start = () => search(bank, ['filler', 'word'], context)
    const expected = shown(runSync(start()))
    const searches: Array<Steps<LexicalResult>> = []
    for (let steps = 1; ; steps++) {
      const suspended = start()
      let isDone = false
      for (let step = 0; step < steps; step++) isDone = suspended.next().done === true
      if (isDone) break
      searches.push(suspended)
    }
    const { version } = bank
    for (let step = 0; step < beforeCommit; step++) write.next()
    t.equal(bank.version, version)
    for (const [at, suspended] of searches.entries()) {
      t.strictSame(shown(runSync(suspended)), expected, `suspended at step ${at + 1} of ${searches.length}`)
    }
    runSync(write)
    t.equal(runSync(search(bank, ['word'], context)).total, 4)
  })
}

await t.test('a search does not read postings that a write appends while it is suspended', async (t) => {
  const terms = ['filler', 'word']
  const added = Array.from({ length: STEP }, () => memoryWith(...terms))
  const [bank, write] = written(bankOf(Array.from({ length: STEP + 1 }, () => memoryWith(...terms))), added, [])
  const { capacity } = bank.lexical
  const factors = new QueryFactors(bank.lexical, { terms, k1: 1, length: { pivot: 2 } })
  const scratch = takeScratch(capacity)
  const scoring = scoreTerms(bank.lexical, terms, factors, scratch)
  scoring.next()
  const { version } = bank
  while (bank.lexical.capacity < capacity + added.length) write.next()
  t.equal(bank.version, version)
  runSync(scoring)
  t.equal(scratch.count, capacity)
  t.strictSame(scratch.postingCounts.slice(0, terms.length), [capacity, capacity])
  t.equal(Math.max(...scratch.scoredOrdinals.subarray(0, scratch.count)), capacity - 1)
  releaseScratch(scratch)
})

await t.test('what an abandoned search left in the arrays that searches share does not change the next', async (t) => {
  const turn = (...words: string[]) => ({ ...memoryWith(...words), documentId: 'document' })
  const bank = bankOf([turn('tea', 'green'), turn('tea'), turn('cup'), turn('green', 'cup'), memoryWith('tea')])
  const find = (context: boolean) => shown(runSync(search(bank, ['tea', 'cup'], context)))
  const before = [find(true), find(false)]
  const scratch = takeScratch(bank.lexical.capacity)
  const { matches, matchScores } = scratch
  for (const array of [matches, matchScores, ...Object.values(candidateArraysOf(scratch, 100))]) array.fill(3)
  releaseScratch(scratch)
  t.strictSame([find(true), find(false)], before)
})

await t.test('the end of a write that sweeps the index makes a search restart that began just before it', async (t) => {
  const memories = Array.from({ length: STEP + 2000 }, () => memoryWith('filler'))
  memories[0] = { ...memories[0]!, documentId: 'document' }
  memories[1] = { ...memories[1]!, documentId: 'document' }
  const removed = (bank: Bank) => memories.slice(1, 6000).map(({ memoryId }) => bank.entries.byId(memoryId)!)
  const rehearsal = bankOf(memories)
  const { all } = countSteps(...written(rehearsal, [], removed(rehearsal)))
  const stage = bankOf(memories)
  const [bank, write] = written(stage, [], removed(stage))
  for (let step = 0; step < all - 10; step++) write.next()
  for (let isDone = false; !isDone;) {
    const suspended = search(bank, ['filler'], false)
    suspended.next()
    const { version } = bank
    isDone = write.next().done === true
    if (bank.version === version) t.equal(runSync(suspended).total, memories.length - 5999)
    else suspended.return(undefined as never)
  }
  t.equal(runSync(search(bank, ['filler'], false)).total, memories.length - 5999)
})

function written (bank: Bank, added: readonly NewMemory[], removed: readonly Entry[]): [Bank, Steps<void>] {
  return [bank, bank.apply(added, removed, { hidden: true })]
}
