import t from 'tap'
import type { RecallAnswer } from '../../lib/operations/schemas.js'
import { testApp } from '../helpers/app.js'
import { refusedFields } from './support.js'

const TEXTS = ['Alice drinks green tea in the morning.', 'Bob drinks coffee at noon.', 'The otter sleeps on the river.']
const SEMANTIC = { retrieval: { weights: { semantic: 0.7 } } }

for (const fusion of ['linear', 'rrf'] as const) {
  await t.test(`the parts of a hit's sum make its score, with ${fusion} fusion`, async (t) => {
    const { post, retain } = await testApp(t, { file: { retrieval: { ...SEMANTIC.retrieval, fusion } } })
    for (const text of TEXTS) await retain('b', text)
    const { hits } = (await post('/v1/recall', {
      bank_id: 'b', query: 'What does Alice drink?', explain: true,
    })).json<RecallAnswer>()
    t.ok(hits.length > 1)
    for (const { score, scores } of hits) {
      const { contributions = {}, signals = {}, sum = NaN } = scores ?? {}
      const parts = [...Object.values(contributions), ...Object.values(signals)]
      t.same(Object.keys(contributions).sort(), ['lexical', 'semantic'])
      t.ok(Math.abs(parts.reduce((all, part) => all + part, 0) - sum) < 1e-9, 'the parts are the sum')
      t.ok(Math.abs(1 / (1 + Math.exp(6.4 - 4 * sum)) - score) < 1e-8, 'the sum is the score')
    }
    const plain = (await post('/v1/recall', { bank_id: 'b', query: 'What does Alice drink?' })).json<RecallAnswer>()
    t.notOk(plain.hits.some((hit) => 'scores' in hit))
  })
}

await t.test('the meaning counts less in a question about an earlier answer', async (t) => {
  const { post, retain } = await testApp(t, { file: SEMANTIC })
  for (const text of TEXTS) await retain('b', text)
  const best = async (query: string) => {
    const { hits } = (await post('/v1/recall', { bank_id: 'b', query, explain: true })).json<RecallAnswer>()
    return Math.max(...hits.map(({ scores }) => scores!.contributions!['semantic']!))
  }
  const usual = await best('What does Alice drink?')
  for (const query of ['What tea did you recommend to Alice?', 'How did I make the tea of Alice?']) {
    t.ok(Math.abs(await best(query) - 0.5 * usual) < 1e-9, query)
  }
  t.equal(await best('What tea do you recommend to Alice?'), usual)
})

await t.test('a question about an earlier answer compares it together with the question before it', async (t) => {
  const { post, retain } = await testApp(t, { file: SEMANTIC })
  const talk = [
    ['user', 'Which tea suits Alice in the morning?'],
    ['assistant', 'A mild tea such as sencha suits her.'],
    ['assistant', 'Water of seventy degrees is best for it.'],
    ['user', 'Thanks, sencha it is.'],
  ] as const
  for (const [minute, [speaker, text]] of talk.entries()) {
    await retain('b', text, {
      document_id: 'talk', metadata: { speaker }, occurred_at: `2026-01-05T10:0${minute}:00Z`,
    })
  }
  await retain('b', 'Otters like rivers.', { metadata: { speaker: 'assistant' } })
  /** The meanings by text, before and after, as shares of the best of each. */
  const meanings = async (query: string, weight: number) => {
    const { hits } = (await post('/v1/recall', { bank_id: 'b', query, explain: true })).json<RecallAnswer>()
    t.equal(hits.length, 5)
    const found = new Map(hits.map(({ text, scores }) => [text, scores!.semantic!.score]))
    const used = new Map(hits.map(({ text, scores }) => [text, scores!.contributions!['semantic']! / weight + 0.8]))
    return { found, used }
  }
  const asShares = (values: ReadonlyMap<string, number>) => {
    const best = Math.max(...values.values())
    return new Map([...values].map(([text, value]) => [text, value / best]))
  }
  const same = (used: ReadonlyMap<string, number>, expected: ReadonlyMap<string, number>, query: string) => {
    for (const [text, share] of asShares(expected)) t.ok(Math.abs(used.get(text)! - share) < 1e-6, `${query} ${text}`)
  }
  const [question, answer] = [talk[0][1], talk[1][1]]
  for (const query of ['Which tea did you recommend for Alice?', 'How did I make the tea of Alice?']) {
    const { found, used } = await meanings(query, 0.35)
    t.ok(found.get(question)! > found.get(answer)! && found.get(answer)! > 0)
    same(used, new Map(found).set(answer, 0.6 * found.get(answer)! + 0.4 * found.get(question)!), query)
  }
  const other = 'Which tea do you recommend for Alice?'
  const { found, used } = await meanings(other, 0.7)
  same(used, found, other)
})

await t.test('stages report when they began, in order', async (t) => {
  const { post, retain } = await testApp(t)
  await retain('b', TEXTS[0]!)
  const { trace } = (await post('/v1/recall', { bank_id: 'b', query: 'tea', explain: true })).json<RecallAnswer>()
  const stages = trace!.stages
  t.equal(stages[0]!.start_ms, 0)
  for (const [index, { start_ms: start }] of stages.entries()) {
    const before = stages[index - 1]
    // Each figure is rounded by itself.
    if (before !== undefined) t.ok(start + 0.002 >= before.start_ms + before.duration_ms)
  }
})

await t.test('a recall uses only the strategies that it names', async (t) => {
  const { post, retain } = await testApp(t, { file: SEMANTIC })
  for (const text of TEXTS) await retain('b', text)
  const recall = async (strategies: string[]) => (
    (await post('/v1/recall', { bank_id: 'b', query: 'tea', explain: true, strategies })).json<RecallAnswer>()
  )
  const names = ({ trace }: RecallAnswer) => trace!.strategies.map(({ name }) => name)
  const lexical = await recall(['lexical'])
  t.same(names(lexical), ['lexical'])
  t.same(lexical.hits.map(({ text }) => text), [TEXTS[0]])
  t.notOk(lexical.trace!.stages.some(({ name }) => name === 'embed'), 'no model is called')
  const semantic = await recall(['semantic'])
  t.same(names(semantic), ['semantic'])
  t.equal(semantic.hits.length, 3)
  t.same(names(await recall(['semantic', 'lexical'])), ['lexical', 'semantic'])
})

await t.test('strategies that are off or unknown are refused', async (t) => {
  const { post } = await testApp(t, { file: { retrieval: { weights: { semantic: 0 } } } })
  refusedFields(t, await post('/v1/recall', { bank_id: 'b', query: 'tea', strategies: ['semantic'] }), 'strategies')
  refusedFields(t, await post('/v1/recall', { bank_id: 'b', query: 'tea', strategies: [] }), 'strategies')
  refusedFields(t, await post('/v1/recall', { bank_id: 'b', query: 'tea', strategies: ['best'] }), 'strategies[0]')
})
