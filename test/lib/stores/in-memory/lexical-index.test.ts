import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import type { IndexedPassage } from '../../../../lib/stores/in-memory/passage-table.js'
import { LexicalIndex } from '../../../../lib/stores/in-memory/lexical-index.js'
import { QueryFactors, scoreTerms } from '../../../../lib/stores/in-memory/lexical-scoring.js'
import { releaseScratch, takeScratch } from '../../../../lib/stores/in-memory/lexical-scratch.js'
import { runSync } from '../../../../lib/concurrency/steps.js'

const PARAMETERS = { k1: 0.9, b: 0.3 }

interface Plain {
  id: number
  terms: Map<string, number>
  length: number
}

/** BM25 straight from its definition, over the passages that are there. */
function naive (documents: readonly Plain[], query: readonly string[], { k1, b } = PARAMETERS): Map<number, number> {
  const scores = new Map<number, number>()
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length
  for (const term of query) {
    const df = documents.filter(({ terms }) => terms.has(term)).length
    const idf = Math.log(1 + (documents.length - df + 0.5) / (df + 0.5))
    for (const { id, terms, length } of documents) {
      const tf = terms.get(term)
      if (tf === undefined) continue
      const part = idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
      scores.set(id, (scores.get(id) ?? 0) + part)
    }
  }
  return scores
}

function searched (
  index: LexicalIndex<number>, query: readonly string[], parameters = PARAMETERS,
): Map<number, number> {
  const scores = new Map<number, number>()
  const scratch = takeScratch(index.capacity)
  try {
    runSync(scoreTerms(index, query, factors(index, query, parameters), scratch))
    for (const ordinal of scratch.scoredOrdinals.subarray(0, scratch.count)) {
      if (!index.isVisible(ordinal)) continue
      const id = index.payloadAt(ordinal)
      if (scores.has(id)) throw new Error(`${id} was visited twice`)
      scores.set(id, scratch.scores[ordinal]!)
    }
    return scores
  } finally {
    releaseScratch(scratch)
  }
}

function factors (index: LexicalIndex<number>, terms: readonly string[], { k1, b } = PARAMETERS): QueryFactors {
  return new QueryFactors(index, { terms, k1, length: { b } })
}

function mismatch (found: Map<number, number>, expected: Map<number, number>): string | undefined {
  if (found.size !== expected.size) return `${found.size} documents, not ${expected.size}`
  for (const [id, score] of expected) {
    const other = found.get(id)
    if (other === undefined || Math.abs(other - score) > 1e-6 * score) return `document ${id}: ${other}, not ${score}`
  }
  return undefined
}

function counts (text: string): Map<string, number> {
  const terms = new Map<string, number>()
  for (const term of text.split(' ')) terms.set(term, (terms.get(term) ?? 0) + 1)
  return terms
}

function visits (index: LexicalIndex<number>, query: readonly string[]): number[] {
  return [...searched(index, query).keys()]
}

await t.test('a score equals that of a worked example', async (t) => {
  const index = new LexicalIndex<number>()
  index.add(1, counts('cat sat cat'), 3)
  index.add(2, counts('dog sat'), 2)
  // N 2, df(cat) 1: idf ln 2; tf 2; average length 2.5; 2 · 2.2 / (2 + 1.2 · (0.25 + 0.75 · 3 / 2.5)).
  const expected = Math.log(2) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 1.2))
  const scores = searched(index, ['cat'], { k1: 1.2, b: 0.75 })
  t.equal(scores.size, 1)
  t.ok(Math.abs((scores.get(1) ?? 0) - expected) < 1e-9)
})

await t.test('scores equal those of the plain definition after any adds and removes', async (t) => {
  // Few terms and many documents, so that postings grow, die, are compacted and come back.
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
    const index = new LexicalIndex<number>()
    const present: Array<{ plain: Plain, handle: IndexedPassage }> = []
    let id = 0
    for (const action of steps) {
      if ('terms' in action) {
        const plain = { id: id++, terms: new Map(action.terms), length: action.length }
        present.push({ plain, handle: index.add(plain.id, plain.terms, plain.length) })
      } else if (present.length > 0) {
        const [gone] = present.splice(action.remove % present.length, 1)
        if (gone !== undefined) index.remove(gone.handle)
      }
    }
    const documents = present.map(({ plain }) => plain)
    if (index.size !== documents.length) throw new Error(`size ${index.size}, not ${documents.length}`)
    for (const terms of queries) {
      const found = searched(index, terms)
      const wrong = mismatch(found, naive(documents, terms))
      if (wrong !== undefined) throw new Error(wrong)
      const bound = factors(index, terms).maxScore
      for (const score of found.values()) {
        if (!(score > 0 && score <= bound)) throw new Error(`${score} is not within 0–${bound}`)
      }
      for (const name of terms) {
        const df = documents.filter((document) => document.terms.has(name)).length
        if (index.frequency(name) !== df) throw new Error(`frequency of ${name}: ${index.frequency(name)}, not ${df}`)
      }
    }
  }), { numRuns: 60 }))
})

await t.test('scores stay exact while an index is filled, compacted several times and filled again', async (t) => {
  const index = new LexicalIndex<number>()
  const present = new Map<number, { plain: Plain, handle: IndexedPassage }>()
  const add = (id: number) => {
    const terms = counts(`all m${id % 2} m${id % 7} m${id % 101} only${id}`)
    present.set(id, { plain: { id, terms, length: 1 + id % 9 }, handle: index.add(id, terms, 1 + id % 9) })
  }
  const check = (about: string) => {
    const documents = [...present.values()].map(({ plain }) => plain)
    const query = ['m1', 'all', 'm3', 'only77', 'nowhere']
    t.equal(mismatch(searched(index, query), naive(documents, query)), undefined, about)
  }
  for (let id = 0; id < 1_000; id++) add(id)
  check('full')
  for (let round = 0; round < 6; round++) {
    for (const [id, { handle }] of present) {
      if (id % 3 !== round % 3) continue
      index.remove(handle)
      present.delete(id)
    }
    check(`worn, ${present.size} left`)
    for (let id = 1_000 * (round + 1); id < 1_000 * (round + 1) + 200; id++) add(id)
    check(`refilled, ${present.size} left`)
  }
  t.equal(index.size, present.size)
})

await t.test('the order of adds does not change a score', async (t) => {
  const texts = ['red fox', 'red red dog runs', 'fox and dog', 'cat']
  const forward = new LexicalIndex<number>()
  const backward = new LexicalIndex<number>()
  texts.forEach((text, id) => forward.add(id, counts(text), text.length))
  for (let id = texts.length - 1; id >= 0; id--) backward.add(id, counts(texts[id] ?? ''), texts[id]?.length ?? 0)
  t.equal(mismatch(searched(backward, ['red', 'fox']), searched(forward, ['red', 'fox'])), undefined)
})

await t.test('documents are visited by term of the query, then by insertion, after a compaction too', async (t) => {
  const index = new LexicalIndex<number>()
  const handles = Array.from({ length: 300 }, (_, id) => index.add(
    id, counts(id % 100 === 5 ? 'b a' : id % 100 === 3 ? 'a' : 'c'), 2,
  ))
  t.strictSame(visits(index, ['b', 'a']), [5, 105, 205, 3, 103, 203])
  t.strictSame(visits(index, ['a', 'b']), [3, 5, 103, 105, 203, 205])
  for (const [id, handle] of handles.entries()) if (id < 100 || id % 100 > 50) index.remove(handle)
  t.strictSame(visits(index, ['b', 'a']), [105, 205, 103, 203])
})

await t.test('a second removal, or one of a document of another index, does nothing', async (t) => {
  const index = new LexicalIndex<number>()
  const other = new LexicalIndex<number>()
  const gone = index.add(1, counts('a'), 1)
  index.add(2, counts('a'), 1)
  const foreign = other.add(3, counts('a'), 1)
  index.remove(gone)
  index.remove(gone)
  index.remove(foreign)
  t.equal(index.size, 1)
  t.equal(index.frequency('a'), 1)
  t.strictSame(visits(index, ['a']), [2])
  t.equal(other.size, 1)
})

await t.test('a handle stays invalid after compaction has given its place to another document', async (t) => {
  const index = new LexicalIndex<number>()
  const first = index.add(0, counts('a'), 1)
  const second = index.add(1, counts('a'), 1)
  index.remove(first)
  index.remove(second)
  index.add(2, counts('a'), 1)
  index.remove(first)
  t.strictSame(visits(index, ['a']), [2])
})

await t.test('an emptied index behaves like a new one', async (t) => {
  const index = new LexicalIndex<number>()
  const handles = Array.from({ length: 20 }, (_, id) => index.add(id, counts(`a b${id}`), 2.5))
  for (const handle of handles) index.remove(handle)
  t.equal(index.size, 0)
  t.equal(index.frequency('a'), 0)
  t.strictSame(visits(index, ['a', 'b3']), [])
  index.add(7, counts('a b'), 2)
  t.equal(mismatch(searched(index, ['a']), naive([{ id: 7, terms: counts('a b'), length: 2 }], ['a'])), undefined)
})

await t.test('an unknown term and an empty query visit nothing', async (t) => {
  const index = new LexicalIndex<number>()
  t.strictSame(visits(index, ['a']), [], 'in an empty index')
  index.add(1, counts('a'), 1)
  t.strictSame(visits(index, ['b']), [])
  t.strictSame(visits(index, []), [])
})

await t.test('the attainable score is above 0 for any term, also in an empty index', async (t) => {
  const index = new LexicalIndex<number>()
  t.ok(factors(index, ['a']).maxScore > 0)
  t.equal(factors(index, []).maxScore, 0)
  index.add(1, counts('a'), 1)
  const a = factors(index, ['a']).maxScore
  t.ok(a > 0)
  t.ok(factors(index, ['a', 'unknown']).maxScore > a, 'a term in no document counts')
})

await t.test('a count that is not a positive number is ignored', async (t) => {
  const index = new LexicalIndex<number>()
  index.add(
    1, new Map([['zero', 0], ['negative', -1], ['nan', NaN], ['endless', Infinity], ['tiny', 1e-60], ['half', 0.5]]), 1,
  )
  for (const term of ['zero', 'negative', 'nan', 'endless', 'tiny']) t.equal(index.frequency(term), 0, term)
  t.equal(index.frequency('half'), 1)
})

await t.test('documents without length are scored as if b were 0', async (t) => {
  const index = new LexicalIndex<number>()
  index.add(1, counts('a'), 0)
  t.same([...searched(index, ['a'], { k1: 1, b: 1 }).values()], [Math.log(1 + 0.5 / 1.5) * 2])
})

await t.test('long terms that are pieces of a text are found by an equal string', async (t) => {
  const index = new LexicalIndex<number>()
  const text = 'internationalization und 漢字仮名交じり文の長い言葉です'
  index.add(1, counts(text), 3)
  t.strictSame(visits(index, ['INTERNATIONALIZATION'.toLowerCase()]), [1])
  t.strictSame(visits(index, ['漢字仮名交じり文の' + '長い言葉です']), [1])
})

await t.test('documents of one memory have the first of them as their head', async (t) => {
  const index = new LexicalIndex<number>()
  const head = index.add(1, counts('a'), 1)
  const others = Array.from({ length: 20 }, () => index.add(1, counts('a'), 1, head))
  const next = index.add(2, counts('a'), 1)
  for (const { ordinal } of [head, ...others]) t.equal(index.heads[ordinal], head.ordinal)
  t.equal(index.heads[next.ordinal], next.ordinal)
})

await t.test('the pivot leaves short documents unchanged and divides long ones', async (t) => {
  const index = new LexicalIndex<number>()
  const query = new QueryFactors(index, { terms: ['a'], k1: 2, length: { pivot: 25 } })
  const { minSaturation, flat, slope } = query.norms
  t.strictSame({ minSaturation, flat, slope }, { minSaturation: 2, flat: 0, slope: 2 / 25 })
  for (const [length, norm] of [[0, 1], [25, 1], [50, 2], [100, 4]] as const) {
    t.equal(query.norms.norm(length), norm)
    t.equal(query.norms.saturation(length), 2 * norm)
  }
})
