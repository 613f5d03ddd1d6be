import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { NEIGHBOUR_WEIGHTS, WITHOUT_OWN_TERMS } from '../../../lib/stores/context.js'
import type { Candidate, LexicalRequest, NewMemory, VectorStore } from '../../../lib/stores/vector-store.js'
import fc from '../../helpers/fast-check.js'
import { newMemory, NOW, withTags, type MemoryFields } from '../../helpers/memories.js'
import { referenceSearch } from './bm25.js'
import { assertRanking } from './lexical.js'
import { bank, BM25, lexical, REMOVE, searchFor, texts, type OpenStore } from './setup.js'

const EPSILON = 1e-6

/** A memory whose last passage asks something if its text ends so, as the analyser says. */
export async function turn (text: string, fields: MemoryFields = {}): Promise<NewMemory> {
  const memory = await newMemory(text, { documentId: 'talk', ...fields })
  return {
    ...memory,
    passages: memory.passages.map(
      (passage) => ({ ...passage, question: text.slice(passage.start, passage.end).endsWith('?') }),
    ),
  }
}

/** The turns of a talk, a second apart. */
export async function talk (texts: readonly string[], fields: MemoryFields = {}): Promise<NewMemory[]> {
  return await Promise.all(
    texts.map(async (text, index) => await turn(text, { occurredAt: NOW + index * 1000, ...fields })),
  )
}

/** Whether the bank's scores are those of its contents. */
export async function assertScores (
  store: VectorStore, key: ReturnType<typeof bank>, contents: readonly NewMemory[], terms: readonly string[],
  parameters: Omit<LexicalRequest, 'terms'> = BM25, now = NOW,
): Promise<void> {
  const { lexical, total } =
    await store.search({ banks: [key], now, filters: {}, limit: 1000, lexical: { terms, ...parameters } })
  const reference = referenceSearch(contents, { terms, ...parameters })
  assertRanking(lexical!, reference.found)
  assert.equal(total, reference.total)
}

export function contextContract (t: Test, open: OpenStore): void {
  const home = bank('home')
  const scoresFor = async (store: VectorStore, query: string) => new Map((await lexical(store, [home], query)).map(
    ({ memory, score, scores }) => [memory.text, { score, own: scores.own! }],
  ))

  t.test('a turn of a conversation is found by the words of its neighbours, up to two turns away', async (t) => {
    const store = await open(t)
    const turns = ['zero', 'one', 'what about the otter?', 'three', 'four', 'five']
    await store.insert(home, await talk(turns), { now: NOW })
    const scores = await scoresFor(store, 'otter')
    t.strictSame([...scores.keys()], ['what about the otter?', 'three', 'one', 'four', 'zero'])
    t.strictSame([...scores].filter(([, { own }]) => own > 0).map(([text]) => text), ['what about the otter?'])
    t.equal(scores.get('what about the otter?')!.own, scores.get('what about the otter?')!.score)
  })

  t.test('an answer gets a higher weight from its question than a statement from the turn before it', async (t) => {
    const store = await open(t)
    await store.insert(
      home,
      [
        ...await talk(['an otter?', 'yes'], { documentId: 'asked' }),
        ...await talk(['an otter.', 'indeed'], { documentId: 'said' }),
      ],
      { now: NOW },
    )
    const scores = await scoresFor(store, 'otter')
    t.ok(scores.get('yes')!.score > scores.get('indeed')!.score)
    t.ok(scores.get('an otter?')!.score > 0.99 * scores.get('an otter.')!.score)
  })

  t.test('a neighbour with the same word adds to the score, but not to the score of the own words', async (t) => {
    const store = await open(t)
    const turns = ['the otter swims', 'the otter sleeps', 'nothing', 'nothing more', 'nothing at all']
    await store.insert(home, await talk(turns), { now: NOW })
    await store.insert(home, [await turn('an otter alone', { documentId: 'another' })], { now: NOW })
    const scores = await scoresFor(store, 'otter')
    t.ok(scores.get('the otter swims')!.score > scores.get('the otter swims')!.own)
    t.equal(scores.get('an otter alone')!.score, scores.get('an otter alone')!.own)
  })

  t.test('the context does not change document frequencies, so a rare word stays rare', async (t) => {
    const [store, other] = [await open(t), await open(t)]
    await store.insert(home, await talk(['an otter', 'one', 'two', 'three']), { now: NOW })
    await other.insert(home, await talk(['an otter', 'one', 'two', 'three'], { documentId: null }), { now: NOW })
    const own = async (of: VectorStore) => (
      (await searchFor(of, [home], 'otter nowhere')).lexical!.find(({ memory }) => (
        memory.text === 'an otter'
      ))!.scores.own
    )
    t.equal(await own(store), await own(other))
  })

  t.test('the weight of a neighbour depends on its distance and on whether it is a question, as in the ' +
    'worked example', async (t) => {
    const store = await open(t)
    const all = await talk(['zero', 'one?', 'otter', 'three', 'an otter?', 'five', 'six'])
    await store.insert(home, all, { now: NOW })
    const { before, after, secondBefore, secondAfter } = NEIGHBOUR_WEIGHTS
    // k1 .9, all norms 1, one term: the score is w / (w + .9) of what could be reached, or half of it for a memory
    // without the term that does not follow a question with it.
    const weights: Record<string, [weight: number, factor?: number]> = {
      zero: [secondAfter, WITHOUT_OWN_TERMS],
      'one?': [after.question, WITHOUT_OWN_TERMS],
      otter: [1 + secondAfter],
      three: [before.other + after.other, WITHOUT_OWN_TERMS],
      'an otter?': [1 + secondBefore],
      five: [before.question],
      six: [secondBefore, WITHOUT_OWN_TERMS],
    }
    const scores = await scoresFor(store, 'otter')
    for (const [text, [weight, factor = 1]] of Object.entries(weights)) {
      const expected = factor * weight / (weight + 0.9)
      t.ok(
        Math.abs(scores.get(text)!.score - expected) < EPSILON, `${text}: ${scores.get(text)!.score}, not ${expected}`,
      )
    }
  })

  t.test('a memory with a term ranks before one that has only neighbours with better terms', async (t) => {
    const store = await open(t)
    const all = await talk(['otter heron', 'one', 'two', 'three', 'four', 'a weasel', 'six'])
    await store.insert(home, all, { now: NOW })
    await assertScores(store, home, all, ['otter', 'heron', 'weasel'])
    const ranked = texts(await lexical(store, [home], 'otter heron weasel'))
    t.strictSame(ranked.slice(0, 3), ['otter heron', 'a weasel', 'one'])
  })

  t.test('a long neighbour adds less, and a long memory gets less from its neighbours', async (t) => {
    const store = await open(t)
    const lexical = { terms: ['otter'], k1: 0.9, length: { pivot: 2 }, context: true }
    const all = [
      ...await talk(['otter one two three', 'yes'], { documentId: 'long lends' }),
      ...await talk(['otter', 'yes one two three four five'], { documentId: 'long borrows' }),
    ]
    await store.insert(home, all, { now: NOW })
    const found = new Map((await searchFor(store, [home], '', { lexical })).lexical!.map(
      ({ memory, score }) => [memory.text, score],
    ))
    const share = NEIGHBOUR_WEIGHTS.before.other
    const expected = (weight: number, norm: number) => WITHOUT_OWN_TERMS * weight / (weight + 0.9 * norm)
    t.ok(Math.abs(found.get('yes')! - expected(share / 2, 1)) < EPSILON, 'a lender of norm 2')
    t.ok(Math.abs(found.get('yes one two three four five')! - expected(share, 3)) < EPSILON, 'a borrower of norm 3')
  })

  t.test('memories without a document, of other documents and of other banks are not neighbours', async (t) => {
    const store = await open(t)
    await store.insert(home, [
      ...await talk(['no document'], { documentId: null }),
      await turn('an otter elsewhere', { documentId: 'elsewhere' }),
      await turn('next', { occurredAt: NOW, documentId: 'next' }),
    ], { now: NOW })
    await store.insert(bank('other'), await talk(['an otter of another bank']), { now: NOW })
    await store.insert(bank('home', 'acme'), await talk(['an otter of another tenant']), { now: NOW })
    t.strictSame([...(await scoresFor(store, 'otter')).keys()], ['an otter elsewhere'])
  })

  t.test('without context memories are found by their own words only', async (t) => {
    const store = await open(t)
    await store.insert(home, await talk(['one', 'what about the otter?', 'yes']), { now: NOW })
    const [candidate, ...others] = (await searchFor(store, [home], '', {
      lexical: { terms: ['otter'], ...BM25, context: false },
    })).lexical!
    t.same(others, [])
    t.strictSame(candidate!.scores, { lexical: candidate!.score, own: candidate!.score })
  })

  t.test('of several passages the best one gives and gets context, and the last one decides whether it ' +
    'is a question', async (t) => {
    const store = await open(t)
    const long = await turn('The otter sleeps by the river. An otter, an otter, an otter! Was it a fine day?', {
      occurredAt: NOW + 1000, chunkMaxCharacters: 32,
    })
    t.equal(long.passages.length, 3)
    const all = [await turn('the otter', { occurredAt: NOW }), long, await turn('it was', { occurredAt: NOW + 2000 })]
    await store.insert(home, all, { now: NOW })
    await assertScores(store, home, all, ['otter'])
    const found = await lexical(store, [home], 'otter')
    const one = found.find(({ memory }) => memory.text === long.text)!
    t.equal(one.passageCount, 3)
    t.strictSame(
      one.passages.map(({ start, end }) => long.text.slice(start, end)),
      ['An otter, an otter, an otter!', 'The otter sleeps by the river.'],
    )
    t.equal(one.passages[0]!.score, one.scores.own)
    t.ok(one.score > one.scores.own!, 'the previous memory lends it')
    const answer = found.find(({ memory }) => memory.text === 'it was')!
    const weight = 3 * NEIGHBOUR_WEIGHTS.before.question + NEIGHBOUR_WEIGHTS.secondBefore
    t.ok(Math.abs(answer.score - weight / (weight + 0.9)) < EPSILON)
  })

  t.test('a memory of several passages that is found only by its neighbours has its first ' +
    'passage in the hit', async (t) => {
    const store = await open(t)
    const long = await turn('A day like any other one it was. Nothing more to say of it now.', {
      occurredAt: NOW + 1000, chunkMaxCharacters: 36,
    })
    t.equal(long.passages.length, 2)
    await store.insert(home, [await turn('an otter', { occurredAt: NOW }), long], { now: NOW })
    const found = (await lexical(store, [home], 'otter')).find(({ memory }) => memory.text === long.text)!
    t.equal(found.scores.own, 0)
    t.strictSame(found.passages, [{ start: 0, end: long.passages[0]!.end, score: found.score }])
  })

  t.test('the order of neighbours is that of occurredAt, else of retainedAt, then of the ids', async (t) => {
    const store = await open(t)
    const [a, b, c, d] = await Promise.all([
      turn('a otter', { occurredAt: NOW - 2 }), turn('b', { retainedAt: NOW - 1 }), turn('c', { occurredAt: NOW }),
      turn('d', { retainedAt: NOW }),
    ])
    await store.insert(home, [d, b, c, a], { now: NOW })
    await assertScores(store, home, [a, b, c, d], ['otter'])
    t.strictSame([...(await scoresFor(store, 'otter')).keys()], ['a otter', 'b', 'c'])
  })

  t.test('a memory that is inserted later between two others is their neighbour', async (t) => {
    const store = await open(t)
    const all = await talk(['otter zero?', 'heron one', 'otter two', 'otter heron three?', 'four', 'five', 'heron six'])
    for (const at of [5, 0, 6, 2, 4, 1, 3]) await store.insert(home, [all[at]!], { now: NOW })
    await assertScores(store, home, all, ['otter', 'heron'])
    t.equal((await store.insert(home, [all[3]!], { now: NOW }))[0]!.stored, false)
    await assertScores(store, home, all, ['otter', 'heron'])
  })

  t.test('a removed memory is no neighbour, and the memories around it become neighbours', async (t) => {
    const store = await open(t)
    const all = await talk(['zero', 'one', 'an otter?', 'three heron', 'four', 'five'], { tags: ['a'] })
    await store.insert(home, all, { now: NOW })
    await store.remove(home, { kind: 'ids', memoryIds: [all[2]!.memoryId] }, { ...REMOVE, dryRun: true })
    await assertScores(store, home, all, ['otter', 'heron'])
    await store.remove(home, { kind: 'ids', memoryIds: [all[2]!.memoryId] }, REMOVE)
    await assertScores(store, home, all.filter((_, index) => index !== 2), ['otter', 'heron'])
    t.strictSame([...(await scoresFor(store, 'otter')).keys()], [])
    await store.remove(home, withTags(['a']), REMOVE)
    t.strictSame([...(await scoresFor(store, 'heron')).keys()], [])
    await store.insert(home, all, { now: NOW })
    await store.remove(home, { kind: 'all' }, REMOVE)
    await store.insert(home, [all[1]!], { now: NOW })
    await assertScores(store, home, [all[1]!], ['otter', 'heron', 'one'])
  })

  t.test('an expired memory is no neighbour, and the memories around it become neighbours', async (t) => {
    const store = await open(t)
    const all = await talk(['an otter', 'one', 'two', 'three'])
    const brief = await turn('a brief heron?', { occurredAt: NOW + 500, expiresAt: NOW + 10 })
    await store.insert(home, [...all, brief], { now: NOW })
    const at = async (now: number) => texts(await lexical(store, [home], 'otter heron', { now })).sort()
    t.strictSame(await at(NOW + 9), ['a brief heron?', 'an otter', 'one', 'two'])
    t.strictSame(await at(NOW + 10), ['an otter', 'one', 'two'])
    await assertScores(store, home, all, ['otter', 'heron'], BM25, NOW + 10)
  })

  t.test('an import that overwrites a memory removes its old context, also when the document changes', async (t) => {
    const store = await open(t)
    const all = await talk(['zero', 'one', 'an otter?', 'three', 'four', 'five'])
    await store.insert(home, all, { now: NOW })
    const moved = { ...await turn('a heron', { occurredAt: NOW + 4500 }), memoryId: all[2]!.memoryId }
    const elsewhere = {
      ...await turn('a heron', { documentId: 'elsewhere', fingerprint: 'elsewhere' }), memoryId: all[0]!.memoryId,
    }
    await store.import(home, [moved, elsewhere], { now: NOW, onConflict: 'skip' })
    await assertScores(store, home, all, ['otter', 'heron'])
    await store.import(home, [moved, elsewhere], { now: NOW, onConflict: 'overwrite' })
    await assertScores(
      store, home, [elsewhere, all[1]!, all[3]!, all[4]!, moved, all[5]!], ['otter', 'heron', 'zero', 'one', 'five'],
    )
  })

  t.test('the scores depend only on the present memories, after any sequence of inserts and removals', async (t) => {
    const store = await open(t)
    const word = fc.constantFrom('apple', 'pear', 'plum', 'fig')
    const text = fc.tuple(fc.array(word, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '?'))
      .map(([words, end]) => words.join(' ') + end)
    const place = fc.record({
      text,
      document: fc.constantFrom('a', 'b', null),
      at: fc.nat(6),
      again: fc.boolean(),
      gone: fc.boolean(),
      late: fc.boolean(),
      chunk: fc.constantFrom(8, 100),
    })
    let runs = 0
    await fc.assert(fc.asyncProperty(fc.array(
      place, { minLength: 1, maxLength: 12 },
    ), fc.constantFrom<Omit<LexicalRequest, 'terms'>>(
      BM25, { ...BM25, context: false }, { k1: 0.9, length: { pivot: 2 }, context: true },
      { k1: 0, length: { b: 0 }, context: true }, { k1: 2, length: { b: 1 }, context: true },
    ), async (places, parameters) => {
      const key = bank(`run-${runs++}`)
      const all = await Promise.all(places.map(async ({ text, document, at, chunk }, index) => (
        await turn(text, {
          documentId: document, occurredAt: NOW + at, fingerprint: String(index), chunkMaxCharacters: chunk,
        })
      )))
      const late = all.filter((_, index) => places[index]!.late)
      await store.insert(key, all.filter((memory) => !late.includes(memory)), { now: NOW })
      for (const memory of late) await store.insert(key, [memory], { now: NOW })
      const gone = all.filter((_, index) => places[index]!.gone).map(({ memoryId }) => memoryId)
      await store.remove(key, { kind: 'ids', memoryIds: gone }, REMOVE)
      await store.import(key, all.filter((_, index) => places[index]!.again), { now: NOW, onConflict: 'overwrite' })
      await assertScores(
        store, key, all.filter((_, index) => places[index]!.again || !places[index]!.gone), ['appl', 'plum', 'nowher'],
        parameters,
      )
    }), { numRuns: 30 })
  })

  t.test('a candidate has the scores of all requested strategies, whichever of them found it', async (t) => {
    const store = await open(t)
    await store.insert(home, [
      await turn('an otter', { occurredAt: NOW, vectors: [[0, 1, 0, 0]] }),
      await turn('its neighbour', { occurredAt: NOW + 1, vectors: [[1, 1, 0, 0]] }),
      await turn('an otter without a vector', { documentId: 'another' }),
      await turn('something else', { documentId: null, vectors: [[1, 0, 0, 0]] }),
    ], { now: NOW })
    const request = { banks: [home], now: NOW, filters: {}, limit: 1 }
    const words = { lexical: { terms: ['otter'], ...BM25 } }
    const meaning = { semantic: { vector: Float32Array.of(1, 0, 0, 0) } }
    const rounded = ({ memory, scores }: Candidate) => [memory.text, Object.fromEntries(Object.entries(scores)
      .map(([name, score]) => [name, Math.round(score * 100) / 100]))]
    for (const limit of [1, 4]) {
      const alone = await store.search({ ...request, ...words, limit })
      const both = await store.search({ ...request, ...words, ...meaning, limit })
      t.strictSame(both.lexical!.map(({ memory }) => memory.text), alone.lexical!.map(({ memory }) => memory.text))
      for (const [index, { score, scores: { semantic, ...scores } }] of both.lexical!.entries()) {
        t.strictSame(scores, alone.lexical![index]!.scores)
        t.equal(scores.lexical, score)
        t.equal(semantic === undefined, both.lexical![index]!.memory.text === 'an otter without a vector')
      }
      for (const { score, scores } of both.semantic!) t.equal(scores.semantic, score)
    }
    const { lexical, semantic } = await store.search({ ...request, ...words, ...meaning })
    t.match(rounded(lexical![0]!), ['an otter', { semantic: 0 }])
    t.strictSame(rounded(semantic![0]!), ['something else', { lexical: 0, own: 0, semantic: 1 }])
    const all = await store.search({ ...request, ...words, ...meaning, limit: 4 })
    const neighbour = all.semantic!.find(({ memory }) => memory.text === 'its neighbour')!
    t.ok(neighbour.scores.lexical! > 0)
    t.equal(neighbour.scores.own, 0)
    t.strictSame(neighbour.scores, all.lexical!.find(({ memory }) => memory.text === 'its neighbour')!.scores)
    t.strictSame(Object.keys((await store.search({ ...request, ...meaning })).semantic![0]!.scores), ['semantic'])
    t.strictSame(
      rounded((await store.search({ ...request, lexical: { terms: [], ...BM25 }, ...meaning })).semantic![0]!),
      ['something else', { lexical: 0, own: 0, semantic: 1 }],
    )
  })
}
