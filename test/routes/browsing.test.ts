import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { refused, refusedFields } from './support.js'

interface Growth {
  from: string
  until: string
  count_before: number
  days: Array<{ day: string, memory_count: number }>
}

await t.test('growth contains every day of the range, and the count before it', async (t) => {
  const { get, retain, clock } = await testApp(t)
  for (const [at, text] of [
    ['2026-01-30T23:59:59Z', 'one'], ['2026-01-31T00:00:00Z', 'two'], ['2026-02-02T12:00:00Z', 'three'],
  ] as const) {
    clock.set(at)
    await retain('b', text)
  }
  t.same((await get('/v1/banks/b/growth?days=3')).json(), {
    bank_id: 'b',
    from: '2026-01-31',
    until: '2026-02-02',
    count_before: 1,
    days: [
      { day: '2026-01-31', memory_count: 1 }, { day: '2026-02-01', memory_count: 0 },
      { day: '2026-02-02', memory_count: 1 },
    ],
  })
  const earlier = (await get('/v1/banks/b/growth?days=1&until=2026-01-31')).json<Growth>()
  t.match(earlier, { from: '2026-01-31', until: '2026-01-31', count_before: 1, days: [{ memory_count: 1 }] })
  const none = (await get('/v1/banks/nobody/growth')).json<Growth>()
  t.match(none, { from: '2026-01-04', until: '2026-02-02', count_before: 0 })
  t.equal(none.days.length, 30)
})

await t.test('the range of growth is clamped, and its last day must be valid', async (t) => {
  const { get } = await testApp(t)
  t.equal((await get('/v1/banks/b/growth?days=100000')).json<Growth>().days.length, 366)
  t.equal((await get('/v1/banks/b/growth?days=-5')).json<Growth>().days.length, 1)
  t.match((await get('/v1/banks/b/growth?days=100&until=0000-01-02')).json<Growth>(), {
    from: '0000-01-01', until: '0000-01-02',
  })
  t.equal((await get('/v1/banks/b/growth?days=2&until=9999-12-31')).json<Growth>().until, '9999-12-31')
  for (const until of ['2026-02-30', '2026-1-1', 'today', '2026-01-01T00:00:00Z']) {
    const response = await get(`/v1/banks/b/growth?until=${until}`)
    refusedFields(t, response, 'until')
  }
})

interface Page {
  memories: Array<{ text: string }>
  next_cursor: string | null
  total?: { count: number, complete: boolean }
}

interface Neighbours {
  memory: { text: string }
  before: Array<{ text: string }>
  after: Array<{ text: string }>
  more_before: boolean
  more_after: boolean
}

const textsIn = (memories: Array<{ text: string }>) => memories.map(({ text }) => text)

await t.test('a list can be filtered in every documented way, and contains the total', async (t) => {
  const { get, retain, clock } = await testApp(t, {
    file: { identity: { trust: [{ principal: 'user:guest', trust: 'untrusted' }] } },
  })
  await retain('b', 'one', {
    metadata: { kind: 'note', n: 1 }, document_id: 'd/1', occurred_at: '2025-01-01T00:00:00Z',
  })
  clock.advance(1000)
  await retain('b', 'two', { metadata: { kind: 'note' }, document_id: 'd/2', occurred_at: '2025-06-01T00:00:00Z' })
  clock.advance(1000)
  await retain('b', 'three', { tags: ['t'] }, { 'x-service-principal': 'user:guest' })
  const list = async (query: Record<string, string>) => {
    const { memories, total } = (await get(
      `/v1/banks/b/memories?${new URLSearchParams({ ...query, total: 'true' })}`,
    )).json<Page>()
    t.same(total, { count: memories.length, complete: true }, JSON.stringify(query))
    return textsIn(memories)
  }
  t.same(await list({}), ['three', 'two', 'one'])
  t.same(await list({ order: 'oldest' }), ['one', 'two', 'three'])
  t.same(await list({ metadata: '{"kind":"note"}' }), ['two', 'one'])
  t.same(await list({ metadata: '{"kind":"note","n":1}' }), ['one'])
  t.same(await list({ document_id: 'd/2' }), ['two'])
  t.same(await list({ occurred_after: '2025-01-01T00:00:00Z', occurred_before: '2025-06-01T00:00:00Z' }), ['one'])
  t.same(await list({ retained_after: '2026-01-15T10:00:01Z' }), ['three', 'two'])
  t.same(await list({ retained_before: '2026-01-15T10:00:01Z' }), ['one'])
  t.same(await list({ trust: 'untrusted' }), ['three'])
  t.same(await list({ min_trust: 'trusted' }), ['two', 'one'])
  t.notOk('total' in (await get('/v1/banks/b/memories')).json<Page>())
})

await t.test('a cursor pages in both directions from its place, and an offset skips memories', async (t) => {
  const { get, retain, clock } = await testApp(t)
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    await retain('b', text)
    clock.advance(1000)
  }
  const page = async (query: string) => (await get(`/v1/banks/b/memories?${query}`)).json<Page>()
  const first = await page('limit=3')
  t.same(textsIn(first.memories), ['five', 'four', 'three'])
  t.same(textsIn((await page(`limit=3&cursor=${first.next_cursor}`)).memories), ['two', 'one'])
  t.same(textsIn((await page(`limit=3&order=oldest&cursor=${first.next_cursor}`)).memories), ['four', 'five'])
  t.match(await page('limit=2&offset=2&total=true'), {
    memories: [{ text: 'three' }, { text: 'two' }], next_cursor: /./, total: { count: 5, complete: true },
  })
  t.match(await page('offset=100000'), { memories: [], next_cursor: null })
})

await t.test('an unknown filter of a list is refused with its name', async (t) => {
  const { get } = await testApp(t)
  const wrong: Array<[field: string, value: string]> = [
    ['metadata', '[]'], ['metadata', 'null'], ['metadata', '{"a":{}}'], ['metadata', '{"a":1e999}'],
    ['metadata', '{a}'],
    ['retained_after', '2026-01-01'], ['offset', '100001'], ['offset', '-1'], ['order', 'best'], ['trust', 'full'],
    ['document_id', ''], ['total', 'maybe'],
  ]
  for (const [field, value] of wrong) {
    refusedFields(t, await get(`/v1/banks/b/memories?${new URLSearchParams({ [field]: value })}`), field)
  }
})

await t.test('a memory is shown with its neighbours in the document', async (t) => {
  const { get, retain } = await testApp(t)
  const ids: string[] = []
  for (let turn = 0; turn < 8; turn++) {
    ids.push(await retain('b', `turn ${turn}`, { document_id: 'talk', occurred_at: `2025-01-0${turn + 1}T00:00:00Z` }))
  }
  const around = async (id: string, query = '') => (
    (await get(`/v1/banks/b/memories/${id}/neighbours${query}`)).json<Neighbours>()
  )
  const middle = await around(ids[4]!, '?before=2&after=1')
  t.same(
    [textsIn(middle.before), middle.memory.text, textsIn(middle.after)], [['turn 2', 'turn 3'], 'turn 4', ['turn 5']],
  )
  t.match(middle, { more_before: true, more_after: true })
  t.match(await around(ids[4]!), { before: { length: 4 }, after: { length: 3 }, more_before: false, more_after: false })
  t.match(await around(ids[0]!.toUpperCase(), '?before=1000&after=0'), {
    memory: { text: 'turn 0' }, before: { length: 0 }, after: { length: 0 }, more_before: false, more_after: true,
  })
  t.match(await around(await retain('b', 'alone')), {
    before: { length: 0 }, after: { length: 0 }, more_before: false, more_after: false,
  })
  for (const id of ['01936f0e-7b3c-7a10-8d2f-ffffffffffff', 'none']) {
    refused(t, await get(`/v1/banks/b/memories/${id}/neighbours`), 404, 'not_found')
  }
  refused(t, await get(`/v1/banks/other/memories/${ids[0]}/neighbours`), 404, 'not_found')
})

await t.test('a store without these methods still lists as before', async (t) => {
  const store = Object.assign(new InMemoryVectorStore(), { countMemories: undefined, neighbours: undefined })
  const { get, retain } = await testApp(t, {}, { store })
  const id = await retain('b', 'one', { metadata: { n: 1 } })
  t.same(
    textsIn(
      (await get(
        '/v1/banks/b/memories?metadata=%7B%22n%22:1%7D&order=newest&offset=0&total=false',
      )).json<Page>().memories,
    ),
    ['one'],
  )
  for (const query of [
    'order=oldest', 'offset=1', 'total=true', 'document_id=d', 'trust=trusted', 'retained_after=2026-01-01T00:00:00Z',
  ]) {
    refused(t, await get(`/v1/banks/b/memories?${query}`), 501, 'not_supported')
  }
  refused(t, await get(`/v1/banks/b/memories/${id}/neighbours`), 501, 'not_supported')
})

await t.test('growth requires read, and a store that counts by day', async (t) => {
  const file = { access_control: { enabled: true, default_policy: 'deny' as const } }
  const { get } = await testApp(t, { file })
  refused(t, await get('/v1/banks/b/growth', { 'x-service-principal': 'user:bob' }), 403, 'access_denied')
  const store = Object.assign(new InMemoryVectorStore(), { countByDay: undefined })
  refused(t, await (await testApp(t, {}, { store })).get('/v1/banks/b/growth'), 501, 'not_supported')
})
