import { HindsightError, type HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { rejection } from '../../../test/helpers/rejection.js'
import { gateway } from './gateway.js'

const OPERATION = '0d0a7d9e-6f0e-4d55-9a0d-5a3c8a0e1f11'

/** The texts of a bank, newest first. */
async function texts (client: HindsightClient, bank = 'home'): Promise<unknown[]> {
  return (await client.listMemories(bank)).items.map(({ text }) => text)
}

async function refusal (work: Promise<unknown>): Promise<[number | undefined, string]> {
  const { statusCode, details } = await rejection(HindsightError, work)
  return [statusCode, String(details)]
}

t.test('every field of the client is stored, and is visible in the gateway\'s own API', async (t) => {
  const { client, get } = await gateway(t)
  await client.retainBatch('home', [{
    content: 'Alice drinks green tea.',
    timestamp: new Date('2024-03-01T08:30:00Z'),
    context: 'breakfast',
    metadata: { channel: 'mail' },
    document_id: 'diary/1:a',
    tags: ['drinks', 'tea'],
    entities: [],
    observation_scopes: 'per_tag',
  }], { documentTags: ['tea', 'alice'] })
  const { memories } = (await get('/v1/banks/home/memories')).json<{ memories: unknown[] }>()
  t.match(memories, [{
    text: 'Alice drinks green tea.',
    occurred_at: '2024-03-01T08:30:00.000Z',
    metadata: { channel: 'mail', context: 'breakfast' },
    document_id: 'diary/1:a',
    tags: ['alice', 'drinks', 'tea'],
  }])
  t.match((await client.recall('home', 'tea')).results, [{
    type: 'world',
    context: 'breakfast',
    occurred_start: '2024-03-01T08:30:00.000Z',
    mentioned_at: '2026-01-15T10:00:00.000Z',
    document_id: 'diary/1:a',
    metadata: { channel: 'mail' },
    tags: ['alice', 'drinks', 'tea'],
  }])
  t.match(await client.getDocument('home', 'diary/1:a'), {
    id: 'diary/1:a', memory_unit_count: 1, nodes_by_fact_type: { world: 1 },
  })
})

t.test('a timestamp may have every form that Hindsight accepts', async (t) => {
  const { client } = await gateway(t)
  const when: Record<string, string | null> = {
    '2024-03-01': '2024-03-01T00:00:00.000Z',
    '2024-03-01T08:30': '2024-03-01T08:30:00.000Z',
    '2024-03-01T08:30:15': '2024-03-01T08:30:15.000Z',
    '2024-03-01 08:30:15.123456': '2024-03-01T08:30:15.123Z',
    '2024-03-01T08:30:15+0200': '2024-03-01T06:30:15.000Z',
    '2024-03-01T08:30:15.5-05:00': '2024-03-01T13:30:15.500Z',
    unset: null,
  }
  for (const [timestamp, expected] of Object.entries(when)) {
    const content = `It is ${timestamp}.`
    await client.retain('home', content, { timestamp })
    const [item] = (await client.listMemories('home', { q: content })).items
    t.equal(item?.['occurred_start'], expected, timestamp)
  }
  for (const timestamp of ['yesterday', '2024-02-30', '2024-03-01T25:00', '', '1709281800']) {
    t.match(
      await refusal(client.retain('home', 'x', { timestamp })),
      [400, /^items\[0\]\.timestamp: must be an /], timestamp,
    )
  }
})

t.test('a document is replaced as a whole, or extended', async (t) => {
  const { client, clock } = await gateway(t)
  await client.retainBatch('home', [{ content: 'one' }, { content: 'two' }], { documentId: 'diary' })
  await client.retain('home', 'of another document', { documentId: 'letter' })
  await client.retain('home', 'of none')
  clock.advance(1000)
  await client.retainBatch('home', [{ content: 'three' }, { content: 'two' }], { documentId: 'diary' })
  t.same(await texts(client), ['three', 'of none', 'of another document', 'two'], 'an unchanged memory stays')
  clock.advance(1000)
  await client.retain('home', 'four', { documentId: 'diary', updateMode: 'append' })
  t.match(await client.getDocument('home', 'diary'), { original_text: 'two\n\nthree\n\nfour', memory_unit_count: 3 })
  await client.retain('elsewhere', 'five', { documentId: 'diary' })
  t.equal((await client.getDocument('home', 'diary'))?.memory_unit_count, 3, 'the other bank has its own')
  await client.retain('home', 'six', { documentId: 'diary' })
  t.equal((await client.getDocument('home', 'diary'))?.original_text, 'six')
  t.same(await refusal(client.retainBatch('home', [
    { content: 'a', document_id: 'x', update_mode: 'append' }, { content: 'b', document_id: 'x' },
  ])), [400, 'items[1].update_mode: must be the same for all items of a document'])
  t.same(await refusal(client.retain('home', 'a', { updateMode: 'append' })), [
    400, 'items[0].update_mode: needs document_id',
  ])
})

t.test('a document stays when its replacement is refused', async (t) => {
  const { client } = await gateway(t)
  await client.retain('home', 'one', { documentId: 'diary' })
  t.match(
    await refusal(client.retainBatch('home', [{ content: 'two' }, { content: ' ' }], { documentId: 'diary' })),
    [400, /items\[1\]\.content/],
  )
  t.same(await texts(client), ['one'])
})

t.test('an asynchronous retain is complete when it is answered, once per operation', async (t) => {
  const { client } = await gateway(t)
  const put = async (content: string, documentId = 'diary') => (
    await client.retain('home', content, { async: true, operationId: OPERATION, documentId })
  )
  t.same(await put('one'), { success: true, bank_id: 'home', items_count: 1, async: false })
  t.same(await texts(client), ['one'])
  await client.retain('home', 'two', { documentId: 'diary' })
  t.match(await put('one'), { success: true }, 'a repeat')
  t.same(await texts(client), ['two'], 'it restores nothing and removes nothing')
  t.match(await refusal(put('three')), [409, /Idempotency-Key|key/i])
})

t.test('an unsupported option that would change the result is refused, and nothing is stored', async (t) => {
  const { client } = await gateway(t)
  t.match(await refusal(client.retain('home', 'a', { entities: [{ text: 'Alice' }] })), [
    501, /^items\[0\]\.entities: no entities/,
  ])
  t.match(
    await refusal(client.retainBatch('home', [{ content: 'a' }, { content: 'b', strategy: 'x' }])),
    [501, /^items\[1\]\.strategy: /],
  )
  t.match(await refusal(client.retain('home', 'a', { context: 'x', metadata: { context: 'y' } })), [
    400, /^items\[0\]\.context: is kept as metadata\.context/,
  ])
  t.same(await texts(client), [])
})

t.test('a value that the gateway refuses is refused under the name that the caller sent', async (t) => {
  const { client } = await gateway(t)
  const large = 'x'.repeat(4097)
  t.match(await refusal(client.retainBatch('home', [{ content: 'a' }, { content: 'b', context: large }])), [
    400, /^items\[1\]\.context: must not be larger than 4096 bytes as JSON$/,
  ])
  t.match(await refusal(client.retain('home', 'a', { context: 'x', metadata: { note: large } })), [
    400, /^items\[0\]\.metadata: must not be larger/,
  ])
  t.match(
    await refusal(client.retainBatch('home', [{ content: 'a' }], { documentTags: [' '] })),
    [400, /^document_tags: must not be blank$/],
  )
  t.match(
    await refusal(client.retainBatch('home', [{ content: 'a', tags: [' '] }], { documentTags: ['tea'] })),
    [400, /^items\[0\]\.tags: must not be blank$/],
  )
  t.same(await texts(client), [])
})

t.test('the bounds of a batch are those of the gateway', async (t) => {
  const { client, hindsight } = await gateway(t, { file: { homeostasis: { rate_limits: { retain_per_minute: 3 } } } })
  t.match(
    await refusal(client.retainBatch('home', Array.from({ length: 1001 }, () => ({ content: 'a' })))), [400, /items/],
  )
  t.match(await refusal(client.retainBatch('home', [])), [400, /items/])
  t.match(await refusal(client.retain('home', 'x'.repeat(50_001))), [400, /content/])
  const unknown = await hindsight.inject({
    method: 'POST', url: '/v1/default/banks/home/memories', payload: { items: [{ content: 'a', colour: 'red' }] },
  })
  t.match([unknown.statusCode, unknown.json()], [
    400, { detail: /items\[0\]\.colour: is not a known field/, code: 'invalid_request' },
  ])
  t.match(await refusal(client.retain('no bank', 'a')), [400, /bank_id/])
  await client.retainBatch('home', [{ content: 'a' }, { content: 'b' }, { content: 'c' }])
  t.match(await refusal(client.retain('home', 'd')), [429, /limit/i], 'each item counts')
})
