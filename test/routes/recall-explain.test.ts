import t from 'tap'
import type { TestConfig } from '../helpers/config.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { SteeredEmbeddings } from '../fixtures/steered-embeddings.js'
import { explain } from './explaining.js'
import { hitsOf } from './support.js'

const CONCEPTS: TestConfig = {
  file: { embedding_provider: './test/fixtures/concept-embeddings.mjs:ConceptEmbeddings' },
}

/** Retains `count` short memories that all hold the word `otter`, and are better found by it than a long one. */
async function otters ({ post }: TestApp, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from(
      { length: Math.min(1000, count - from) }, (_, index) => ({ content: `Otter ${from + index}.` }),
    )
    const response = await post('/v1/retain/batch', { bank_id: 'bank', items })
    if (response.statusCode !== 200) throw new Error(response.body)
  }
}

const LONG = 'Beyond the bridge, where herons stand and reeds grow high, lives one old otter whom nobody sees by day.'

await t.test('a memory that is a hit is explained with the rank and score that recall gives it', async (t) => {
  const app = await testApp(t)
  for (const content of ['Alice drinks tea.', 'Bob drinks coffee.', 'Carol grows tea roses.']) {
    await app.retain('bank', content)
  }
  const hits = hitsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'Who drinks tea?', explain: true }))
  t.equal(hits.length, 3)
  for (const [index, hit] of hits.entries()) {
    const { stages, ...answer } = await explain(app, hit.memory_id, 'Who drinks tea?')
    t.strictSame(answer, {
      memory_id: hit.memory_id, found: true, verdict: 'returned', rank: index + 1, score: hit.score,
    })
    t.strictSame(Object.keys(stages), ['filter', 'lexical', 'semantic', 'fusion', 'scorers', 'rerank', 'budget'])
    t.strictSame(stages.filter, { passed: true, failed: [] })
    t.match(stages.lexical, { state: 'candidate', candidates: 3, ...hit.scores!.lexical })
    t.match(stages.semantic, { state: 'off', rank: null, score: null, candidates: 0 })
    t.strictSame(stages.scorers, { rank: index + 1, score: hit.score, signals: hit.scores!.signals })
    t.strictSame(stages.rerank, { state: 'off', rank: null, score: null })
    t.match(stages.budget, { cut_by: [], min_score: 0, max_results: 10, max_tokens: null })
  }
})

await t.test('the lexical stage shows which query words the memory and its neighbours contain', async (t) => {
  const app = await testApp(t)
  const asked = await app.retain('bank', 'Which instrument does Alice play?', { document_id: 'talk' })
  const answer = await app.retain('bank', 'The cello.', { document_id: 'talk' })
  await app.retain('bank', 'Bob paints.')
  const own = (await explain(app, asked, 'Alice instruments cello')).stages.lexical!
  t.match(own.terms.asked, { length: 3 })
  t.match(own.terms.in_memory, { length: 2 })
  const lent = (await explain(app, answer, 'instruments')).stages.lexical!
  t.strictSame(lent.terms.in_memory, [])
  t.equal(lent.terms.from_neighbours, true)
  t.equal(lent.own_score, 0)
  t.ok(lent.score! > 0)
  const alone = (await explain(app, await app.retain('bank', 'A harp.'), 'harp')).stages.lexical!
  t.equal(alone.terms.from_neighbours, false)
  t.equal(alone.own_score, alone.score)
})

await t.test('filters', async (t) => {
  const app = await testApp(t, CONCEPTS)
  const id = await app.retain('bank', 'Alice saw her doctor.', {
    tags: ['a'], metadata: { n: 1 }, occurred_at: '2025-07-01T00:00:00Z',
  })
  const timeless = await app.retain('bank', 'A doctor called.')
  const cases: Array<[filters: Record<string, unknown>, failed: string[]]> = [
    [{ tags: ['b'] }, ['tags']],
    [{ tags: ['a', 'b'], tags_match: 'all' }, ['tags']],
    [{ metadata: { n: 2 } }, ['metadata']],
    [{ metadata: { n: 1, m: 1 } }, ['metadata']],
    [{ occurred_after: '2025-07-01T00:00:00.001Z' }, ['occurred_after']],
    [{ occurred_before: '2025-07-01T00:00:00Z' }, ['occurred_before']],
    [{ as_of: '2026-01-15T09:59:59Z' }, ['as_of']],
    [
      {
        tags: ['b'],
        metadata: { n: 2 },
        occurred_after: '2025-08-01T00:00:00Z',
        occurred_before: '2025-06-01T00:00:00Z',
        as_of: '2025-01-01T00:00:00Z',
      },
      ['tags', 'metadata', 'occurred_after', 'occurred_before', 'as_of'],
    ],
  ]
  for (const [filters, failed] of cases) {
    const { stages, ...answer } = await explain(app, id, 'doctor', filters)
    t.strictSame(answer, { memory_id: id, found: false, verdict: 'filtered', rank: null, score: null })
    t.strictSame(stages.filter, { passed: false, failed })
    t.match([stages.lexical, stages.semantic], [{ state: 'filtered', rank: null }, { state: 'filtered', rank: null }])
    t.ok(stages.lexical!.score! > 0 && stages.semantic!.score! > 0.9, 'its score without the bound')
    t.strictSame(Object.keys(stages), ['filter', 'lexical', 'semantic'])
  }
  for (const filters of [
    { tags: ['a', 'b'] }, { metadata: { n: 1 } }, { occurred_after: '2025-07-01T00:00:00Z' },
    { occurred_before: '2025-07-01T00:00:00.001Z' }, { as_of: '2026-01-15T10:00:00Z' },
  ]) {
    t.match(await explain(app, id, 'doctor', filters), { verdict: 'returned', stages: { filter: { passed: true } } })
  }
  t.strictSame(
    (await explain(app, timeless, 'doctor', { occurred_after: '1900-01-01T00:00:00Z' })).stages.filter,
    { passed: false, failed: ['occurred_after'] },
  )
  t.match(await explain(app, timeless, 'submarine', { tags: ['a'] }), {
    verdict: 'filtered', stages: { lexical: { state: 'no_match', score: null } },
  })
})

await t.test('a memory without a common word is found by no strategy, when only words are searched', async (t) => {
  const app = await testApp(t)
  const id = await app.retain('bank', 'Alice saw her doctor.')
  const { stages, ...answer } = await explain(app, id, 'physician')
  t.strictSame(answer, { memory_id: id, found: false, verdict: 'no_strategy_found_it', rank: null, score: null })
  t.strictSame(stages.lexical, {
    state: 'no_match',
    rank: null,
    score: null,
    candidates: 0,
    own_score: null,
    terms: { asked: stages.lexical!.terms.asked, in_memory: [], from_neighbours: false },
  })
  t.equal((await explain(app, id, '?!')).verdict, 'no_strategy_found_it')
})

await t.test('the explanation shows that a memory was found by its meaning only', async (t) => {
  const app = await testApp(t, CONCEPTS)
  const id = await app.retain('bank', 'Alice saw her doctor.')
  await app.retain('bank', 'Bob parked the car.')
  await app.app.memory.idle()
  const { verdict, rank, stages } = await explain(app, id, 'physician')
  t.strictSame([verdict, rank], ['returned', 1])
  t.match(stages.lexical, { state: 'no_match', rank: null, score: null })
  t.match(stages.semantic, { state: 'candidate', rank: 1, candidates: 2 })
  t.ok(stages.semantic!.score! > 0.99)
  t.equal(stages.fusion!.rank, 1)
})

await t.test('a memory whose vectors are still missing has no vector', async (t) => {
  const embeddings = new SteeredEmbeddings()
  const release = embeddings.hold()
  const app = await testApp(t, {}, { embeddings })
  const id = await app.retain('bank', 'Alice saw her doctor.')
  t.match(await explain(app, id, 'physician'), {
    verdict: 'no_strategy_found_it', stages: { semantic: { state: 'no_vector', rank: null, score: null } },
  })
  t.match(await explain(app, id, 'doctor'), { verdict: 'returned', stages: { semantic: { state: 'no_vector' } } })
  release()
  await app.app.memory.idle()
  t.match(await explain(app, id, 'physician'), {
    verdict: 'returned', stages: { semantic: { state: 'candidate', rank: 1 } },
  })
})

await t.test('a query that could not be embedded is degraded, and words are still searched', async (t) => {
  const app = await testApp(t, {
    file: { embedding_provider: './test/fixtures/concept-embeddings.mjs:BrokenEmbeddings' },
  })
  const id = await app.retain('bank', 'Alice saw her doctor.')
  t.match(await explain(app, id, 'doctor'), {
    verdict: 'returned',
    degraded: ['semantic'],
    stages: { lexical: { state: 'candidate', rank: 1 }, semantic: { state: 'degraded', rank: null, score: null } },
  })
  t.match(await explain(app, id, 'physician'), { verdict: 'no_strategy_found_it', degraded: ['semantic'] })
})

await t.test('with words switched off, only meaning is searched', async (t) => {
  const app = await testApp(t, { file: { ...CONCEPTS.file, retrieval: { weights: { lexical: 0, semantic: 1 } } } })
  const id = await app.retain('bank', 'Alice saw her doctor.')
  await app.app.memory.idle()
  t.match(await explain(app, id, 'physician'), {
    verdict: 'returned',
    stages: { lexical: { state: 'off', rank: null, score: null }, semantic: { state: 'candidate', rank: 1 } },
  })
})

await t.test('a memory after the last candidate is no candidate, and its true rank is shown', async (t) => {
  const app = await testApp(t)
  await otters(app, 120)
  const id = await app.retain('bank', LONG)
  const { stages, ...answer } = await explain(app, id, 'otter')
  t.strictSame(answer, { memory_id: id, found: false, verdict: 'not_a_candidate', rank: null, score: null })
  t.match(stages.lexical, { state: 'too_low', rank: 121, candidates: 100 })
  t.ok(stages.lexical!.score! > 0)
  t.notOk('beyond' in stages.lexical!)
  t.notOk('fusion' in stages || 'budget' in stages)
  t.match(
    await explain(app, id, 'otter', { max_results: 500 }), { verdict: 'returned', rank: 121 },
    'a recall of more results has more candidates',
  )
})

await t.test('a memory that is a candidate of one strategy only has its rank in both', async (t) => {
  const app = await testApp(t, CONCEPTS)
  await otters(app, 120)
  const id = await app.retain('bank', `${LONG} The doctor told so.`)
  await app.app.memory.idle()
  const { verdict, stages } = await explain(app, id, 'otter physician', { max_results: 100 })
  t.equal(verdict, 'returned')
  t.match(stages.lexical, { state: 'too_low', rank: 121 })
  t.match(stages.semantic, { state: 'candidate', rank: 1 })
})

await t.test('a memory beyond the first thousand is reported as such, with its score when it is known', async (t) => {
  const app = await testApp(t)
  await otters(app, 1005)
  const id = await app.retain('bank', LONG)
  const tagged = await app.retain('bank', `${LONG} Or by night.`, { tags: ['night'] })
  t.match(await explain(app, id, 'otter'), {
    verdict: 'not_a_candidate',
    stages: {
      lexical: {
        state: 'too_low', rank: null, score: null, own_score: null, beyond: 1000, terms: { from_neighbours: null },
      },
    },
  })
  const { verdict, stages } = await explain(app, tagged, 'otter')
  t.equal(verdict, 'not_a_candidate')
  t.match(stages.lexical, { state: 'too_low', rank: null, beyond: 1000, terms: { from_neighbours: false } })
  t.ok(stages.lexical!.score! > 0)
})

await t.test('bounds', async (t) => {
  const app = await testApp(t, { file: { banks: { tight: { homeostasis: { recall_max_tokens: 1 } } } } })
  for (const content of [
    'Green tea, green tea.',
    'Green tea was carried over mountains, rivers, deserts and seas by merchants, monks and thieves.',
    'Somebody poured tea.',
  ]) {
    await app.retain('bank', content)
  }
  const hits = hitsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'green tea' }))
  const last = hits.at(-1)!
  const tokens = (await app.post('/v1/recall', {
    bank_id: 'bank', query: 'green tea',
  })).json<{ usage: { tokens: number } }>().usage.tokens
  t.ok(hits.length === 3 && last.score < hits[1]!.score, 'the precondition of the cases')

  const cases: Array<[what: string, bounds: Record<string, unknown>, verdict: string, cutBy: string[]]> = [
    ['none', {}, 'returned', []],
    ['a score that it just has', { min_score: last.score }, 'returned', []],
    ['a higher score', { min_score: hits[1]!.score }, 'below_min_score', ['min_score']],
    ['as many results as its rank', { max_results: 3 }, 'returned', []],
    ['fewer results', { max_results: 2 }, 'cut_by_max_results', ['max_results']],
    ['as many tokens as it needs', { max_tokens: tokens }, 'returned', []],
    ['fewer tokens', { max_tokens: tokens - 1 }, 'cut_by_max_tokens', ['max_tokens']],
    [
      'all of them too tight', { min_score: 1, max_results: 1, max_tokens: 1 }, 'below_min_score',
      ['min_score', 'max_results', 'max_tokens'],
    ],
    ['two of them too tight', { max_results: 1, max_tokens: 1 }, 'cut_by_max_results', ['max_results', 'max_tokens']],
  ]
  for (const [what, bounds, verdict, cutBy] of cases) {
    await t.test(`with ${what}`, async (t) => {
      const answer = await explain(app, last.memory_id, 'green tea', bounds)
      t.match(answer, { verdict, found: verdict === 'returned', rank: 3, score: last.score })
      t.strictSame(answer.stages.budget!.cut_by, cutBy)
      t.equal(answer.stages.budget!.tokens_needed, tokens)
      const given = hitsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'green tea', ...bounds }))
      t.equal(given.some(({ memory_id: id }) => id === last.memory_id), answer.found, 'as recall has it')
    })
  }
  await t.test('the limit of the bank applies, and results are clamped', async (t) => {
    const id = await app.retain('tight', 'Green tea.')
    t.match(await explain(app, id, 'tea', { bank_id: 'tight', max_tokens: 500, max_results: 5000 }), {
      verdict: 'cut_by_max_tokens', stages: { budget: { max_tokens: 1, max_results: 1000 } },
    })
  })
})

await t.test('a reranker', async (t) => {
  const file = { reranker: './test/fixtures/rerankers.mjs:WordReranker', reranker_config: { word: 'rarely' } }
  const fill = async (app: TestApp) => {
    await app.retain('bank', 'Tea, tea and tea.')
    return await app.retain('bank', 'Bob, who is a busy man in a small shop, rarely drinks tea with anybody.')
  }
  await t.test('that lifts a memory is shown with the rank before it', async (t) => {
    const app = await testApp(t, { file })
    const id = await fill(app)
    t.match(await explain(app, id, 'tea'), {
      verdict: 'returned', rank: 1, stages: { scorers: { rank: 2 }, rerank: { state: 'judged', rank: 1, score: 7 } },
    })
  })
  await t.test('that is given fewer candidates does not judge the others', async (t) => {
    const app = await testApp(t, { file: { ...file, retrieval: { rerank: { candidates: 1 } } } })
    const id = await fill(app)
    t.match(await explain(app, id, 'tea'), {
      verdict: 'returned',
      rank: 2,
      stages: { scorers: { rank: 2 }, rerank: { state: 'not_judged', rank: null, score: null } },
    })
  })
  await t.test('that fails is reported as degraded, without its message', async (t) => {
    const app = await testApp(t, { file: { reranker: './test/fixtures/rerankers.mjs:BrokenReranker' } })
    const answer = await explain(app, await fill(app), 'tea')
    t.match(answer, {
      verdict: 'returned',
      rank: 2,
      degraded: ['rerank'],
      stages: { rerank: { state: 'degraded', rank: null, score: null } },
    })
    t.notMatch(JSON.stringify(answer), /sk-secret|internal/)
  })
})
