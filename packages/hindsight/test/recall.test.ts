import { HindsightError, recallResponseToPromptString, type HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { rejection } from '../../../test/helpers/rejection.js'
import { gateway } from './gateway.js'

type RecallOptions = NonNullable<Parameters<HindsightClient['recall']>[2]>

async function texts (client: HindsightClient, query: string, options: RecallOptions = {}): Promise<string[]> {
  return (await client.recall('home', query, options)).results.map(({ text }) => text).sort()
}

t.test('tags match in the strict modes, and the others are refused', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', [
    { content: 'tea' }, { content: 'tea red', tags: ['red'] }, { content: 'tea blue', tags: ['blue'] },
    { content: 'tea both', tags: ['red', 'blue'] },
  ])
  const found = async (tags: string[], tagsMatch?: RecallOptions['tagsMatch']) => (
    await texts(client, 'tea', { tags, ...(tagsMatch && { tagsMatch }) })
  )
  t.same(await found(['red', 'blue'], 'any_strict'), ['tea blue', 'tea both', 'tea red'])
  t.same(await found(['red', 'blue'], 'all_strict'), ['tea both'])
  t.equal((await found([], 'all_strict')).length, 4, 'an empty list of tags is no condition')
  for (const match of [undefined, 'any', 'all', 'exact'] as const) {
    t.match(await rejection(HindsightError, found(['red'], match)), {
      statusCode: 501, details: new RegExp(`^tags_match ${match ?? 'any'}: use any_strict or all_strict`),
    })
  }
  t.match(await rejection(HindsightError, client.recall('home', 'tea', { tagGroups: [{ tags: ['red'] }] })), {
    statusCode: 501, details: /^tag_groups: /,
  })
})

t.test('memories have the kinds that an import has set', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', [
    { content: 'tea' }, { content: 'tea world', metadata: { fact_type: 'world' } },
    { content: 'tea experience', metadata: { fact_type: 'experience' } },
    { content: 'tea observation', metadata: { fact_type: 'observation' } },
  ])
  const found = async (...types: string[]) => await texts(client, 'tea', { types })
  const [plain, world, experience, observation] = ['tea', 'tea world', 'tea experience', 'tea observation']
  t.same(await texts(client, 'tea'), [plain, experience, world], 'observations are returned only on request')
  t.same(await found(), [plain, experience, world])
  t.same(await found('world'), [plain, world])
  t.same(await found('experience'), [experience])
  t.same(await found('observation', 'experience'), [experience, observation])
  t.same(await found('world', 'experience', 'observation'), [plain, experience, observation, world])
  const { results } = await client.recall('home', 'experience', { types: ['experience'] })
  t.equal(results[0]?.type, 'experience')
  t.match(await client.listMemories('home', { type: 'observation' }), {
    total: 1, items: [{ text: observation, fact_type: 'observation' }],
  })
  t.match(await rejection(HindsightError, client.recall('home', 'tea', { types: ['opinion'] })), {
    statusCode: 400, details: /types/,
  })
})

t.test('the best memories that fit into the token limit are returned', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', Array.from(
    { length: 120 }, (_, index) => ({ content: `Tea number ${index} is green.` }),
  ))
  t.equal((await client.recall('home', 'tea', { budget: 'low' })).results.length, 100)
  t.equal((await client.recall('home', 'tea')).results.length, 120)
  t.equal((await client.recall('home', 'tea', { maxTokens: 21 })).results.length, 3)
  t.same((await client.recall('home', 'tea', { maxTokens: 1 })).results, [])
})

t.test('a long memory is shown by its matching passage, and completely as its chunk', async (t) => {
  const { client } = await gateway(t)
  const filler = Array.from({ length: 400 }, (_, index) => `Line ${index} is about the weather of that day.`).join(' ')
  const long = `${filler} The password of the tea room is dragonwell. ${filler}`
  await client.retain('home', long)
  await client.retain('home', 'The tea is short.')
  const recalled = await client.recall('home', 'password dragonwell', { includeChunks: true, maxChunkTokens: 20_000 })
  const [first] = recalled.results
  t.match(first?.text, /dragonwell/)
  t.ok(first!.text.length <= 2000, 'a passage')
  t.same(recalled.chunks?.[first!.chunk_id!], { id: first!.id, text: long, chunk_index: 0, truncated: false })
  const small = await client.recall('home', 'password dragonwell', { includeChunks: true, maxChunkTokens: 1000 })
  t.match(small.chunks?.[first!.id], { text: first!.text, truncated: true })
  t.match(recallResponseToPromptString(recalled), /"source_chunk"/)
  t.equal((await client.recall('home', 'tea')).chunks, undefined, 'only on request')
})

t.test('scores, a trace and a minimum score are supported', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', [{ content: 'Alice drinks green tea.' }, { content: 'Bob has seen a tea.' }])
  const plain = await client.recall('home', 'green tea')
  t.equal(plain.trace, undefined)
  t.match(plain.results[0]?.scores, { final: Number, semantic: null, keyword: null })
  const traced = await client.recall('home', 'green tea', { trace: true })
  t.match(traced.trace, { stages: [{ name: 'analyze' }], candidates: 2 })
  t.match(traced.results[0]?.scores, { final: Number, keyword: Number })
  const [first, second] = plain.results.map(({ scores }) => scores!.final)
  t.ok(first! > second!)
  t.same((await client.recall('home', 'green tea', { minScores: { final: first! } })).results.length, 1)
  for (const name of ['semantic', 'keyword', 'reranker'] as const) {
    t.match(await rejection(HindsightError, client.recall('home', 'tea', { minScores: { [name]: 0.1 } })), {
      statusCode: 501, details: new RegExp(`^min_scores\\.${name}: `),
    })
  }
})

t.test('times in the query are relative to the time of the query', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', [
    { content: 'The tea was green.', timestamp: '2023-05-29T12:00:00Z' },
    { content: 'The tea was black.', timestamp: '2024-05-29T12:00:00Z' },
  ])
  for (const [queryTimestamp, expected] of [
    ['2023-05-30T23:40:00', 'The tea was green.'], ['2024-05-30', 'The tea was black.'],
  ] as const) {
    t.equal((await client.recall('home', 'Which tea was it yesterday?', { queryTimestamp })).results[0]?.text, expected)
  }
  t.match(await rejection(HindsightError, client.recall('home', 'tea', { queryTimestamp: 'now' })), {
    statusCode: 400, details: /^query_timestamp: /,
  })
})

t.test('absent data are empty in the answer', async (t) => {
  const { client } = await gateway(t)
  await client.retain('home', 'tea')
  const all = await client.recall('home', 'tea', {
    includeEntities: true, includeSourceFacts: true, preferObservations: true,
  })
  t.match(all, { results: [{ entities: null, source_fact_ids: null }], entities: {}, source_facts: {} })
  const none = await client.recall('home', 'tea', { includeEntities: false })
  t.equal(none.entities, undefined)
  t.same((await client.recall('empty', 'tea')).results, [], 'a bank that does not exist is empty')
})
