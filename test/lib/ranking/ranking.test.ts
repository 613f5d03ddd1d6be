import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import {
  explainHits, interleave, rankQuery, type QueryRanking, type RankingOptions,
} from '../../../lib/ranking/ranking.js'
import { analyzeQuery } from '../../helpers/retrieval.js'
import { SignalReader } from '../../../lib/ranking/scoring/signals.js'
import type { Candidate } from '../../../lib/stores/vector-store.js'
import { candidate, DAY, DEFAULTS, found, HOME, ids, NOW, only } from './candidates.js'

function rank (
  question: string, candidates: Candidate[], options: Partial<RankingOptions> = {},
  observe?: (observation: QueryRanking) => void,
) {
  const query = analyzeQuery(question, NOW)
  const reader = new SignalReader()
  const signals = candidates.map(({ memory }) => reader.read(memory))
  const ranking = rankQuery(found(...candidates), query, signals, { ...DEFAULTS, ...options })
  observe?.(ranking)
  return interleave([ranking], 0).map(({ bank, memory, rankScore: score }) => ({ bank, memory, score }))
}

/** What each scorer added to each candidate, by memory id. */
function signalsOf (question: string, candidates: Candidate[], options: Partial<RankingOptions>) {
  const rankings: QueryRanking[] = []
  const ranked = rank(question, candidates, options, (observation) => { rankings.push(observation) })
  const explanations = explainHits(ranked, rankings)
  return new Map(ranked.map(({ memory }, at) => [memory.memoryId, explanations[at]!.scorerContributions]))
}

t.test('an empty list ranks to an empty list', async (t) => {
  t.strictSame(rank('tea', []), [])
})

t.test('without scorers the scores of the strategies decide', async (t) => {
  const candidates = [candidate('a', { lexical: 0.3, semantic: 0.9 }), candidate('b', { lexical: 0.9, semantic: 0.1 })]
  t.strictSame(ids(rank('tea', candidates, { scorers: only() })), ['b', 'a'])
  t.strictSame(ids(rank('tea', candidates, { scorers: only(), weights: { lexical: 0, semantic: 1 } })), ['a', 'b'])
  t.strictSame(ids(rank('tea', candidates, { scorers: only(), weights: { lexical: 1, semantic: 2 } })), ['a', 'b'])
})

t.test('cosines that are all 0 change no score', async (t) => {
  const scoresOf = (semantic: { semantic?: number }) => rank('tea', [
    candidate('a', { lexical: 0.9, ...semantic }), candidate('b', { lexical: 0.5, ...semantic }),
  ], { weights: { lexical: 1, semantic: 1.5 } }).map(({ score }) => score)
  t.strictSame(scoresOf({ semantic: 0 }), scoresOf({}))
})

t.test('a scorer raises a candidate by its weight, and lowers it by a negative weight', async (t) => {
  const candidates = () => [
    candidate('a', { lexical: 0.5, text: 'Tea is nice.' }), candidate('b', { lexical: 0.5, text: 'Is tea nice?' }),
  ]
  t.strictSame(ids(rank('tea', candidates(), { scorers: only() })), ['a', 'b'])
  t.strictSame(ids(rank('tea', candidates(), { scorers: only({ question: 1 }) })), ['b', 'a'])
  t.strictSame(ids(rank('tea', candidates(), { scorers: only({ question: -1 }) })), ['a', 'b'])
})

t.test('equal scores are ordered by memory id', async (t) => {
  t.strictSame(
    ids(rank('tea', ['d', 'b', 'c', 'a'].map((id) => candidate(id, { lexical: 0.5 })))), ['a', 'b', 'c', 'd'],
  )
})

t.test('explain shows what each scorer added, and omits those that added nothing', async (t) => {
  const scorers = only({ match: 2, question: -1, date: 5, reaction: 0 })
  const signals = signalsOf('tea', [candidate('a', { lexical: 0.25, text: 'Wow, is tea nice?' })], { scorers })
  t.strictSame(signals.get('a'), { match: 0.5, question: -1 })
})

t.test('observing changes neither order nor scores', async (t) => {
  const candidates = () => [
    candidate('a', { lexical: 0.5, text: 'Ann: I moved to Oslo in 2020.' }),
    candidate('b', { lexical: 0.6, text: 'Thanks!' }),
  ]
  const observed: QueryRanking[] = []
  const ranked = rank('When did Ann move?', candidates(), {}, (observation) => { observed.push(observation) })
  t.strictSame(ranked, rank('When did Ann move?', candidates()))
  t.strictSame(observed.map((ranking) => ids(interleave([ranking], 0))), [ids(ranked)])
})

t.test('for a query that asks for several things one document does not take all the first places', async (t) => {
  const candidates = () => [
    ...['a', 'b', 'c'].map((id) => candidate(id, { lexical: 0.5, documentId: 'one' })),
    candidate('d', { lexical: 0.48, documentId: 'two' }),
  ]
  const options = { scorers: only(), diversity: 1 }
  t.strictSame(ids(rank('Which teas were drunk?', candidates(), options)).slice(0, 2), ['a', 'd'])
  t.strictSame(ids(rank('Where is the tea?', candidates(), options)), ['a', 'b', 'c', 'd'])
  t.strictSame(ids(rank('Which teas were drunk?', candidates(), { ...options, diversity: 0 })), ['a', 'b', 'c', 'd'])
})

/** Nine memories of a document, the first of which may ask something, and one of another, which names a time. */
function notes (first: string, { role, lastOwn = 0.3 }: { role?: string, lastOwn?: number } = {}): Candidate[] {
  return Array.from({ length: 10 }, (_, index) => candidate(`note-${index}`, {
    lexical: index === 9 ? 0.3 : 0.5,
    own: index === 9 ? lastOwn : index === 8 ? 0 : 0.25,
    documentId: index < 9 ? 'one' : 'two',
    text: index === 0 ? first : index === 9 ? 'The oolong arrived yesterday.' : 'The tea is in the cupboard.',
    ...(role !== undefined && { metadata: { speaker: role } }),
  }))
}

t.test('in documents that ask nothing, own words count more than those of neighbours', async (t) => {
  const order = (candidates: Candidate[]) => ids(rank('tea', candidates, { scorers: only() }))
  const conversation = order(notes('Where is the tea?'))
  t.strictSame([conversation.at(0), conversation.at(-1)], ['note-0', 'note-9'])
  const texts = order(notes('Here is the tea.'))
  t.strictSame([texts.at(0), texts.at(-1)], ['note-9', 'note-8'])
  t.equal(order(notes('Here is the tea.', { role: 'user' })).at(-1), 'note-9', 'the turns of a user')
  t.equal(order(notes('Here is the tea.').slice(1)).at(-1), 'note-9', 'too few to tell')
})

t.test('documents that ask nothing have no turns with details, and do not lower their memories', async (t) => {
  const detailsIn = (text: string) => signalsOf('tea', notes(text), { scorers: only({ details: 1 }) }).get('note-9')
  t.strictSame(detailsIn('Where is the tea?'), { details: 0.5 })
  t.strictSame(detailsIn('Here is the tea.'), {})
  const secondIn = (text: string) => (
    ids(rank('Which teas were drunk?', notes(text, { lastOwn: 0.2 }), { scorers: only(), diversity: 2 }))[1]
  )
  t.equal(secondIn('Where is the tea?'), 'note-9')
  t.equal(secondIn('Here is the tea.'), 'note-1')
})

t.test('memories without a document do not lower each other', async (t) => {
  const candidates = [
    candidate('a', { lexical: 0.5 }), candidate('b', { lexical: 0.49 }), candidate('c', { lexical: 0.48 }),
  ]
  t.strictSame(ids(rank('Which teas were drunk?', candidates, { scorers: only(), diversity: 1 })), ['a', 'b', 'c'])
})

t.test('for a query of several parts, the scores after those that are spread fall too', async (t) => {
  const many = Array.from({ length: 70 }, (_, index) => candidate(`m${String(99 - index)}`, {
    lexical: 0.9 - index / 1000, documentId: 'one',
  }))
  const ranked = rank('Which teas were drunk?', many, {
    scorers: only(), weights: { lexical: 4, semantic: 0 }, diversity: 0.02,
  })
  t.strictSame(ids(ranked), ids(many))
  t.ok(ranked.every(({ score }, index) => index === 0 || score < ranked[index - 1]!.score))
})

t.test('the diversity lowers no memory below the minimum score', async (t) => {
  const candidates = () => [
    ...Array.from('abcdefghij', (id) => candidate(id, { lexical: 0.9, documentId: 'one' })),
    candidate('x', { lexical: 0.65, documentId: 'two' }),
    candidate('y', { lexical: 0.1, documentId: 'three', text: 'Is it a conversation?' }),
  ]
  const ranked = rank('Which teas were drunk?', candidates(), {
    scorers: only(), weights: { lexical: 2, semantic: 0 }, diversity: 0.2, minScore: 0.2,
  })
  t.strictSame(ids(ranked), [...'abcxdefghijy'])
  t.strictSame(ranked.map(({ score }) => score >= 0.2), [...'abcxdefghij'].map(() => true).concat(false))
})

/** Texts to which scorers give values. */
const text = fc.constantFrom(
  'plain words', 'Ann: I moved to Oslo in 2020.', 'Bob: Wow, thanks!', 'Did you see the Royal Gardens?',
  'Three cups of green tea, yesterday.', 'green tea', '', '?', 'May 5, 2025: we met Cleo Marsh.',
)
const question = fc.constantFrom(
  'green tea', 'When did Ann move to Oslo?', 'Which gardens did Bob see in May 2025?', 'How many cups?', 'Who is Cleo?',
  '', 'What does Ann like?',
)
const score = fc.double({ min: 0, max: 1, noNaN: true })
const anyCandidate = fc.record({
  id: fc.constantFrom(...'abcdefghij'),
  bank: fc.constantFrom(HOME, { tenantId: null, bankId: 'other' }),
  lexical: score,
  semantic: fc.option(score, { nil: undefined }),
  text,
  documentId: fc.constantFrom(null, 'one', 'two'),
  occurredAt: fc.constantFrom(null, NOW - 10 * DAY, NOW - 250 * DAY),
}).map(({ id, semantic, ...fields }) => candidate(id, { ...fields, ...(semantic !== undefined && { semantic }) }))
const candidates = fc.uniqueArray(anyCandidate, {
  selector: ({ bank, memory }) => `${bank.bankId} ${memory.memoryId}`, maxLength: 12,
})
const options = fc.record({
  fusion: fc.constantFrom('linear' as const, 'rrf' as const),
  weights: fc.record({ lexical: fc.constantFrom(1, 3), semantic: fc.constantFrom(0, 1) }),
  diversity: fc.constantFrom(0, 0.2, 2),
})

t.test('each memory occurs once, and scores are within 0–1 and fall', async () => {
  fc.assert(fc.property(question, candidates, options, (asked, given, more) => {
    const key = ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>) => `${bank.bankId} ${memory.memoryId}`
    const ranked = rank(asked, given, more)
    assert.deepEqual(ranked.map(key).sort(), given.map(key).sort())
    ranked.forEach(({ score }, index) => {
      assert.ok(score >= 0 && score <= 1)
      assert.ok(index === 0 || ranked[index - 1]!.score >= score)
    })
  }))
})

t.test('the order does not depend on that of the candidates', async () => {
  const shuffled =
    candidates.chain((given) => fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })))
  const unranked = fc.record({
    weights: fc.record({ lexical: fc.constantFrom(1, 3), semantic: fc.constantFrom(0, 1) }),
    diversity: fc.constantFrom(0, 0.2),
  })
  fc.assert(fc.property(question, shuffled, unranked, (asked, [one, other], more) => {
    const told = (given: Candidate[]) =>
      rank(asked, given, more).map(({ bank, memory, score }) => [score, memory.memoryId, bank.bankId])
    // One id in two banks ties with itself.
    const byScoreAndId = (list: unknown[][]) => list.map((item) => item.slice(0, 2))
    assert.deepEqual(byScoreAndId(told(other)), byScoreAndId(told(one)))
  }))
})

t.test('isolated facts are in the order of BM25 when nothing else distinguishes them', async () => {
  const isolated = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...'abcdefghij'), fc.integer({ min: 0, max: 100 })), { selector: ([id]) => id },
  )
  fc.assert(fc.property(isolated, question, text, (pairs, asked, said) => {
    const ranked =
      rank(asked, pairs.map(([id, score]) => candidate(id, { lexical: score / 100, text: said })), { diversity: 0 })
    const expected = [...pairs].sort(([idA, a], [idB, b]) => b - a || (idA < idB ? -1 : 1)).map(([id]) => id)
    assert.deepEqual(ids(ranked), expected)
  }))
})

t.test('a ranking is a new list, and the merged candidates do not change', async (t) => {
  const merged = found(candidate('a', { lexical: 0.2 }), candidate('b', { lexical: 0.9 }))
  const before = JSON.stringify(merged)
  const frozen = merged.map((one) => Object.freeze(one))
  const reader = new SignalReader()
  const signals = frozen.map(({ memory }) => reader.read(memory))
  rankQuery(frozen, analyzeQuery('Which teas were drunk?', NOW), signals, DEFAULTS)
  t.equal(JSON.stringify(merged), before)
})
