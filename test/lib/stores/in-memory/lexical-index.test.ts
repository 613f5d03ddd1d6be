import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import { toScore } from '../../../../lib/stores/context.js'
import { Entry } from '../../../../lib/stores/in-memory/bank.js'
import { LexicalIndex } from '../../../../lib/stores/in-memory/lexical-index.js'
import type { LexicalRequest } from '../../../../lib/stores/vector-store.js'
import { newMemory } from '../../../helpers/memories.js'

const PARAMETERS = { k1: 0.9, length: { b: 0.3 } }
const template = await newMemory('x')

interface Plain {
  id: number
  terms: Map<string, number>
  length: number
}

class Index {
  readonly lexical = new LexicalIndex()

  add ({ id, terms, length }: Plain): Entry {
    const passages = [{ start: 0, end: 1, terms, length }]
    const memoryId = `01890000-0000-7000-8000-${String(id).padStart(12, '0')}`
    const entry = new Entry({ ...template, memoryId, passages })
    this.lexical.add(entry, passages)
    return entry
  }

  search (
    terms: readonly string[], parameters: Pick<LexicalRequest, 'k1' | 'length'> = PARAMETERS,
  ): Map<number, number> {
    const options = { limit: 1000, accept: undefined }
    const { best, total } = this.lexical.search({ terms, context: false, ...parameters }, options)
    if (total !== best.length) throw new Error(`${total} in total, not ${best.length}`)
    return new Map(best.map(({ memory, score }) => [Number(memory.memoryId.slice(-12)), score]))
  }
}

/** The shares of the highest BM25 score, by its definition. */
function naive (
  all: readonly Plain[], query: readonly string[], { k1, length: { b } } = PARAMETERS,
): Map<number, number> {
  const sums = new Map<number, number>()
  const average = all.reduce((sum, { length }) => sum + length, 0) / all.length
  let highest = 0
  for (const term of query) {
    const df = all.filter(({ terms }) => terms.has(term)).length
    const idf = Math.log(1 + (all.length - df + 0.5) / (df + 0.5))
    highest += idf * (k1 + 1)
    for (const { id, terms, length } of all) {
      const tf = terms.get(term)
      if (tf === undefined) continue
      const part = idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / (average || Infinity)))
      sums.set(id, (sums.get(id) ?? 0) + part)
    }
  }
  return new Map([...sums].map(([id, sum]) => [id, toScore(sum / highest)]))
}

function mismatch (found: Map<number, number>, expected: Map<number, number>): string | undefined {
  if (found.size !== expected.size) return `${found.size} memories, not ${expected.size}`
  for (const [id, score] of expected) {
    const other = found.get(id)
    if (other === undefined || Math.abs(other - score) > 1e-9) return `memory ${id}: ${other}, not ${score}`
  }
  return undefined
}

function counts (text: string): Map<string, number> {
  const terms = new Map<string, number>()
  for (const term of text.split(' ')) terms.set(term, (terms.get(term) ?? 0) + 1)
  return terms
}

await t.test('scores equal those of the plain definition after any additions and removals', async (t) => {
  // Few terms and many memories, so that postings grow, die, are compacted and come back.
  const term = fc.integer({ min: 0, max: 400 }).map((n) => `t${Math.floor(Math.sqrt(n))}`)
  const weight =
    fc.oneof(fc.integer({ min: 1, max: 5 }), fc.double({ min: 0.05, max: 3, noNaN: true }).map(Math.fround))
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        terms: fc.array(fc.tuple(term, weight), { maxLength: 6 }), length: fc.integer({ min: 0, max: 40 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat() }) },
  )
  const query = fc.uniqueArray(term, { minLength: 1, maxLength: 5 })
  t.doesNotThrow(() => fc.assert(fc.property(fc.array(
    step, { maxLength: 500, size: 'max' },
  ), fc.array(query, { minLength: 1, maxLength: 4 }), (steps, queries) => {
    const index = new Index()
    const present: Array<{ plain: Plain, entry: Entry }> = []
    let id = 0
    for (const action of steps) {
      if ('terms' in action) {
        const plain = { id: id++, terms: new Map(action.terms), length: action.length }
        present.push({ plain, entry: index.add(plain) })
      } else if (present.length > 0) {
        const [gone] = present.splice(action.remove % present.length, 1)
        if (gone !== undefined) index.lexical.remove([gone.entry])
      }
    }
    if (index.lexical.size !== present.length) throw new Error(`size ${index.lexical.size}, not ${present.length}`)
    const left = present.map(({ plain }) => plain)
    for (const terms of queries) {
      const wrong = mismatch(index.search(terms), naive(left, terms))
      if (wrong !== undefined) throw new Error(wrong)
    }
  }), { numRuns: 60 }))
})

await t.test('scores stay exact while an index is filled, compacted several times and filled again', async (t) => {
  const index = new Index()
  const present = new Map<number, { plain: Plain, entry: Entry }>()
  const add = (id: number) => {
    const plain = { id, terms: counts(`all m${id % 2} m${id % 7} m${id % 101} only${id}`), length: 1 + id % 9 }
    present.set(id, { plain, entry: index.add(plain) })
  }
  const check = (about: string) => {
    const all = [...present.values()].map(({ plain }) => plain)
    const query = ['m5', 'm3', 'only77', 'nowhere']
    t.equal(mismatch(index.search(query), naive(all, query)), undefined, about)
  }
  for (let id = 0; id < 1_000; id++) add(id)
  check('full')
  for (let round = 0; round < 6; round++) {
    for (const [id, { entry }] of present) {
      if (id % 3 !== round % 3) continue
      index.lexical.remove([entry])
      present.delete(id)
    }
    check(`worn, ${present.size} left`)
    for (let id = 1_000 * (round + 1); id < 1_000 * (round + 1) + 200; id++) add(id)
    check(`refilled, ${present.size} left`)
  }
  t.equal(index.lexical.size, present.size)
})

await t.test('a second removal, or one of a memory of another index, does nothing', async (t) => {
  const index = new Index()
  const other = new Index()
  const gone = index.add({ id: 1, terms: counts('a'), length: 1 })
  index.add({ id: 2, terms: counts('a'), length: 1 })
  const foreign = other.add({ id: 3, terms: counts('a'), length: 1 })
  for (const entry of [gone, gone, foreign]) index.lexical.remove([entry])
  t.strictSame([...index.search(['a']).keys()], [2])
  t.equal(index.lexical.size, 1)
  t.equal(other.lexical.size, 1)
})

await t.test('an emptied index behaves like a new one', async (t) => {
  const index = new Index()
  const entries = Array.from({ length: 20 }, (_, id) => index.add({ id, terms: counts(`a b${id}`), length: 2.5 }))
  index.lexical.remove(entries)
  t.strictSame(index.lexical.extent, { terms: 0, postings: 0, passages: 0 })
  t.equal(index.search(['a', 'b3']).size, 0)
  const plain = { id: 7, terms: counts('a b'), length: 2 }
  index.add(plain)
  t.equal(mismatch(index.search(['a']), naive([plain], ['a'])), undefined)
})

await t.test('an unknown term and an empty query find nothing', async (t) => {
  const index = new Index()
  t.equal(index.search(['a']).size, 0, 'in an empty index')
  index.add({ id: 1, terms: counts('a'), length: 1 })
  t.equal(index.search(['b']).size, 0)
  t.equal(index.search([]).size, 0)
})

await t.test('a term in no memory counts in the score that can be reached', async (t) => {
  const index = new Index()
  index.add({ id: 1, terms: counts('a'), length: 1 })
  t.ok(index.search(['a', 'unknown']).get(1)! < index.search(['a']).get(1)!)
})

await t.test('a count that is not a positive number is ignored', async (t) => {
  const index = new Index()
  const terms: Array<[string, number]> =
    [['zero', 0], ['negative', -1], ['nan', NaN], ['endless', Infinity], ['tiny', 1e-60], ['half', 0.5]]
  index.add({ id: 1, terms: new Map(terms), length: 1 })
  for (const [term] of terms) t.equal(index.search([term]).size, Number(term === 'half'), term)
})

await t.test('memories without length are scored as if b were 0', async (t) => {
  const index = new Index()
  index.add({ id: 1, terms: counts('a'), length: 0 })
  t.same([...index.search(['a'], { k1: 1, length: { b: 1 } }).values()], [1])
})

await t.test('long terms that are pieces of a text are found by an equal string', async (t) => {
  const index = new Index()
  index.add({ id: 1, terms: counts('internationalization und 漢字仮名交じり文の長い言葉です'), length: 3 })
  t.equal(index.search(['INTERNATIONALIZATION'.toLowerCase()]).size, 1)
  t.equal(index.search(['漢字仮名交じり文の' + '長い言葉です']).size, 1)
})
