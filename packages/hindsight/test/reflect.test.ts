import { HindsightError } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { rejection } from '../../../test/helpers/rejection.js'
import { generation, ScriptedModel, StreamingModel } from '../../../test/routes/reflecting.js'
import { gateway } from './gateway.js'

t.test('the answer contains its sources and its usage', async (t) => {
  const languageModel = new ScriptedModel()
  const { client } = await gateway(t, {}, { languageModel })
  await client.setMission('home', 'Be brief.')
  await client.retain('home', 'Alice drinks green tea.', { context: 'breakfast', timestamp: '2024-03-01T08:30:00Z' })
  t.same(await client.reflect('home', 'What does Alice drink?', { includeFacts: true, context: 'It is about tea.' }), {
    text: 'Tea [1].',
    based_on: {
      memories: [{
        id: '01936f0e-7b3c-7a10-8d2f-000000000001',
        text: 'Alice drinks green tea.',
        context: 'breakfast',
        occurred_start: '2024-03-01T08:30:00.000Z',
        occurred_end: '2024-03-01T08:30:00.000Z',
        mentioned_at: '2026-01-15T10:00:00.000Z',
        document_id: null,
        metadata: { context: 'breakfast' },
        chunk_id: '01936f0e-7b3c-7a10-8d2f-000000000001',
        tags: [],
        type: 'world',
      }],
      mental_models: [],
      directives: [],
    },
    structured_output: null,
    usage: { input_tokens: 30, output_tokens: 4, total_tokens: 34 },
    trace: null,
  })
  const prompt = JSON.stringify(languageModel.last.messages)
  t.match(prompt, /What does Alice drink\?.*Additional context: It is about tea\./)
  t.match(prompt, /Be brief\./, 'the model gets the mission')
  t.equal((await client.reflect('home', 'What does Alice drink?')).based_on, undefined)
})

t.test('the answer satisfies a schema', async (t) => {
  const languageModel = new StreamingModel()
  languageModel.answer = () => generation(JSON.stringify({
    answer: 'Alice lives in Lyon [1].', structured: { city: 'Lyon' },
  }))
  const { client } = await gateway(t, {}, { languageModel })
  await client.retain('home', 'Alice lives in Lyon.')
  const responseSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  t.match(await client.reflect('home', 'Where does Alice live?', { responseSchema }), {
    text: 'Alice lives in Lyon [1].', structured_output: { city: 'Lyon' },
  })
  const mock = await gateway(t)
  await mock.client.retain('home', 'Alice lives in Lyon.')
  t.match(await rejection(HindsightError, mock.client.reflect('home', 'Where?', { responseSchema })), {
    statusCode: 501, details: /response_schema/,
  })
})

t.test('only the memories of these tags and kinds count', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', [
    { content: 'Alice drinks green tea.', tags: ['alice'] }, { content: 'Bob drinks black tea.', tags: ['bob'] },
    { content: 'Everybody drinks white tea.', metadata: { fact_type: 'observation' } },
  ])
  const found = async (options: NonNullable<Parameters<typeof client.reflect>[2]>) => (
    (await client.reflect('home', 'Who drinks tea?', {
      includeFacts: true, ...options,
    })).based_on?.memories?.map(({ text }) => text).sort()
  )
  t.same(await found({ tags: ['alice'], tagsMatch: 'any_strict' }), ['Alice drinks green tea.'])
  t.same(await found({ factTypes: ['observation'] }), ['Everybody drinks white tea.'])
  t.equal((await found({ excludeMentalModels: true, excludeMentalModelIds: ['x'] }))?.length, 3)
  t.match(await rejection(HindsightError, client.reflect('home', 'Who?', { factTypes: ['world'] })), {
    statusCode: 501, details: /^fact_types: /,
  })
  t.equal((await found({ budget: 'high' }))?.length, 3, 'all kinds, unless some are named')
})

t.test('unsupported options are refused', async (t) => {
  const { client } = await gateway(t)
  t.match(await rejection(HindsightError, client.reflect('home', 'Who?', { includeToolCalls: true })), {
    statusCode: 501, details: /^include\.tool_calls: /,
  })
  t.match(await rejection(HindsightError, client.reflect('home', 'Who?', { tagGroups: [{ tags: ['a'] }] })), {
    statusCode: 501, details: /^tag_groups: /,
  })
  t.match(await rejection(HindsightError, client.reflect('home', 'Who?', { context: 'x'.repeat(8192) })), {
    statusCode: 400, details: /^context: /,
  })
  t.match(await client.reflect('empty', 'Who?'), { text: 'There are no memories that answer this.' })
})
