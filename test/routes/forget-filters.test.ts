import t from 'tap'
import type { ForgetAnswer } from '../../lib/operations/schemas.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields, textsOf } from './support.js'

const { post, get, retain, clock } = await testApp(t)

const MEMORIES: Record<string, Record<string, unknown>> = {
  kettle: {
    document_id: 'kitchen',
    tags: ['home'],
    metadata: { topic: 'tea' },
    occurred_at: '2025-03-01T00:00:00Z',
    speaker: 'Ada',
  },
  lamp: { document_id: 'hall', tags: ['home', 'light'], occurred_at: '2025-04-01T00:00:00Z' },
  map: { document_id: 'hall', metadata: { role: 'user' } },
  novel: { tags: ['light'], metadata: { topic: 'tea', pages: 300 }, occurred_at: '2025-05-01T00:00:00Z' },
}
/** When the second of them was stored. */
const SECOND = '2026-01-15T10:01:00Z'

async function fill (bank: string): Promise<void> {
  const start = clock()
  for (const [content, fields] of Object.entries(MEMORIES)) {
    await retain(bank, content, fields)
    clock.advance(60_000)
  }
  clock.advance(start - clock())
}

async function left (bankId: string): Promise<string[]> {
  const { memories } = (await get(`/v1/banks/${bankId}/memories`)).json<{ memories: Array<{ text: string }> }>()
  return memories.map(({ text }) => text).sort()
}

const cases: Array<[body: Record<string, unknown>, gone: string[]]> = [
  [{ document_ids: ['kitchen'] }, ['kettle']],
  [{ document_ids: ['kitchen', 'hall'] }, ['kettle', 'lamp', 'map']],
  [{ document_ids: ['Kitchen'] }, []],
  [{ metadata: { topic: 'tea' } }, ['kettle', 'novel']],
  [{ metadata: { topic: 'tea', pages: 300 } }, ['novel']],
  [{ metadata: { topic: 'tea', pages: '300' } }, []],
  [{ speakers: ['ADA'] }, ['kettle']],
  [{ speakers: ['ada', 'user'] }, ['kettle', 'map']],
  [{ speakers: ['ada'], document_ids: ['hall'] }, []],
  [{ occurred_after: '2025-04-01T00:00:00Z' }, ['lamp', 'novel']],
  [{ occurred_before: '2025-04-01T00:00:00Z' }, ['kettle']],
  [{ occurred_after: '2025-03-01T02:00:00+02:00', occurred_before: '2025-05-01T00:00:00Z' }, ['kettle', 'lamp']],
  [{ retained_after: SECOND }, ['lamp', 'map', 'novel']],
  [{ retained_before: SECOND }, ['kettle']],
  [{ retained_after: SECOND, retained_before: SECOND }, []],
  [{ document_ids: ['hall'], tags: ['light'] }, ['lamp']],
  [{ document_ids: ['hall'], occurred_before: '2030-01-01T00:00:00Z' }, ['lamp']],
  [{ tags: ['home', 'light'], tags_match: 'all', document_ids: ['hall', 'kitchen'] }, ['lamp']],
  [{ tags: ['light'], metadata: { topic: 'tea' }, retained_after: SECOND }, ['novel']],
]
await t.test('a forget by filters deletes the memories that pass all of them', async (t) => {
  for (const [index, [body, gone]] of cases.entries()) {
    const bank = `filters-${index}`
    const about = JSON.stringify(body)
    await fill(bank)
    const dry = (await post('/v1/forget', { bank_id: bank, ...body, dry_run: true })).json<ForgetAnswer>()
    t.equal(dry.deleted_count, gone.length, about)
    t.same(dry.sample!.map(({ text }) => text).sort(), gone, about)
    t.same(await left(bank), Object.keys(MEMORIES), about)
    const answer = (await post('/v1/forget', { bank_id: bank, ...body })).json<ForgetAnswer>()
    t.same(answer, { deleted_count: gone.length, memory_ids: dry.memory_ids }, about)
    t.same(await left(bank), Object.keys(MEMORIES).filter((text) => !gone.includes(text)), about)
  }
})

const ID = '01936f0e-7b3c-7a10-8d2f-ffffffffffff'
const DOCUMENT = { document_ids: ['kitchen'] }
const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['ids and a document', '', { memory_ids: [ID], ...DOCUMENT }],
  ['ids and a speaker', '', { memory_ids: [ID], speakers: ['Ada'] }],
  ['no speakers at all', 'speakers', { speakers: [] }],
  ['a blank speaker', 'speakers[0]', { speakers: [' '] }],
  ['ids and a time', '', { memory_ids: [ID], retained_before: SECOND }],
  ['the scope and a document', '', { scope: 'all', ...DOCUMENT }],
  ['the scope and metadata', '', { scope: 'all', metadata: { topic: 'tea' } }],
  ['filters that are null', '', { document_ids: null, metadata: null, occurred_after: null, retained_after: null }],
  ['a match of tags alone', '', { tags_match: 'any' }],
  ['a match of tags beside a document', 'tags_match', { ...DOCUMENT, tags_match: 'any' }],
  ['metadata without a member', 'metadata', { metadata: {} }],
  ['a document and metadata without a member', 'metadata', { ...DOCUMENT, metadata: {} }],
  ['nested metadata', 'metadata.topic', { metadata: { topic: {} } }],
  ['no documents at all', 'document_ids', { document_ids: [] }],
  ['a text for the documents', 'document_ids', { document_ids: 'kitchen' }],
  ['an empty document', 'document_ids[0]', { document_ids: [''] }],
  ['101 documents', 'document_ids', { document_ids: Array.from({ length: 101 }, String) }],
  ['a day', 'occurred_before', { occurred_before: '2026-01-05' }],
  ['a time without an offset', 'retained_after', { retained_after: '2026-01-05T09:30:00' }],
  ['a filter that only searches have', 'as_of', { ...DOCUMENT, as_of: SECOND }],
]
await t.test('a forget that mixes or lacks selectors, or has a bad filter, deletes nothing', async (t) => {
  await fill('safe')
  for (const [what, field, body] of wrong) {
    for (const more of [{}, { dry_run: true }]) {
      t.comment(what)
      refusedFields(t, await post('/v1/forget', { bank_id: 'safe', ...body, ...more }), field)
    }
  }
  t.same(await left('safe'), Object.keys(MEMORIES))
  const { detail } = (await post('/v1/forget', { bank_id: 'safe' })).json<{ detail: string }>()
  t.match(detail, /one of memory_ids, scope and filters .* tags, document_ids, .* and retained_before$/)
})

await t.test('a repeat of a forget is answered again, and other filters under its key are refused', async (t) => {
  await fill('repeats')
  const forget = async (body: object) => (
    await post('/v1/forget', { bank_id: 'repeats', ...body }, { 'idempotency-key': 'key' })
  )
  const first = (await forget(DOCUMENT)).json<ForgetAnswer>()
  t.equal(first.deleted_count, 1)
  t.same((await forget(DOCUMENT)).json(), first)
  for (const more of [
    { document_ids: ['hall'] }, { ...DOCUMENT, occurred_after: SECOND }, { ...DOCUMENT, occurred_before: SECOND },
    { ...DOCUMENT, retained_after: SECOND }, { ...DOCUMENT, retained_before: SECOND },
    { ...DOCUMENT, metadata: { topic: 'tea' } }, { ...DOCUMENT, speakers: ['Ada'] },
  ]) refused(t, await forget(more), 409, 'idempotency_key_reused')
  t.same(await left('repeats'), ['lamp', 'map', 'novel'])
})

await t.test('a forget by filters requires the permission forget, on no other bank than its own', async (t) => {
  const { post, retain, get } = await testApp(t, { file: ONE_PERMISSION_EACH })
  await retain('team', 'kept', { document_id: 'kitchen' })
  for (const asked of ['read', 'write', 'admin']) {
    const response = await post('/v1/forget', { bank_id: 'team', ...DOCUMENT }, as(`user:${asked}`))
    refused(t, response, 403, 'access_denied', {
      detail: `Principal 'user:${asked}' is denied 'forget' on bank 'team'`,
    })
  }
  t.equal((await get('/v1/banks/team')).json().memory_count, 1)
  const answer = await post('/v1/forget', { bank_id: 'team', ...DOCUMENT }, as('user:forget'))
  t.equal(answer.json<ForgetAnswer>().deleted_count, 1)
})

await t.test('a store that cannot filter by the time of retain answers 501 and deletes nothing', async (t) => {
  const store = Object.assign(new InMemoryVectorStore(), { countMemories: undefined })
  const { post, retain, get } = await testApp(t, {}, { store })
  await retain('team', 'kept', { document_id: 'kitchen' })
  for (const bound of ['retained_after', 'retained_before']) {
    const response = await post('/v1/forget', { bank_id: 'team', ...DOCUMENT, [bound]: SECOND })
    refused(t, response, 501, 'not_supported', {
      detail: 'The configured vector store does not support retained_after and retained_before',
    })
  }
  t.equal((await get('/v1/banks/team')).json().memory_count, 1)
  t.equal((await post('/v1/forget', { bank_id: 'team', ...DOCUMENT })).json<ForgetAnswer>().deleted_count, 1)
})

await t.test('recall, reflect and explain search only the documents that they name', async (t) => {
  for (const [content, document] of [['The otter swims.', 'river'], ['The otter sleeps.', 'den']] as const) {
    await retain('otters', content, { document_id: document })
  }
  const lone = await retain('otters', 'An otter without a document.')
  const ask = { bank_id: 'otters', query: 'otter' }
  const search = async (documents: string[]) => (
    textsOf(await post('/v1/recall', { ...ask, document_ids: documents })).sort()
  )
  t.same(await search(['river']), ['The otter swims.'])
  t.same(await search(['den', 'river', 'nowhere']), ['The otter sleeps.', 'The otter swims.'])
  t.same(await search(['nowhere']), [])
  const { sources } = (await post('/v1/reflect', {
    ...ask, query: 'What does the otter do?', document_ids: ['den'],
  })).json<{ sources: Array<{ text: string }> }>()
  t.same(sources.map(({ text }) => text), ['The otter sleeps.'])
  t.match((await post('/v1/recall/explain', { ...ask, document_ids: ['den'], expect: lone })).json(), {
    verdict: 'filtered', stages: { filter: { passed: false, failed: ['document_ids'] } },
  })
  for (const route of ['/v1/recall', '/v1/reflect']) {
    refusedFields(t, await post(route, { ...ask, document_ids: [] }), 'document_ids')
    refusedFields(t, await post(route, { ...ask, document_ids: [5] }), 'document_ids[0]')
  }
})
