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

await t.test('growth tells every day of the range and what was there before', async (t) => {
  const { get, retain, clock } = await testApp(t)
  for (const [at, text] of [['2026-01-30T23:59:59Z', 'one'], ['2026-01-31T00:00:00Z', 'two'], ['2026-02-02T12:00:00Z', 'three']] as const) {
    clock.set(at)
    await retain('b', text)
  }
  t.same((await get('/v1/banks/b/growth?days=3')).json(), {
    bank_id: 'b',
    from: '2026-01-31',
    until: '2026-02-02',
    count_before: 1,
    days: [{ day: '2026-01-31', memory_count: 1 }, { day: '2026-02-01', memory_count: 0 }, { day: '2026-02-02', memory_count: 1 }],
  })
  const earlier = (await get('/v1/banks/b/growth?days=1&until=2026-01-31')).json<Growth>()
  t.match(earlier, { from: '2026-01-31', until: '2026-01-31', count_before: 1, days: [{ memory_count: 1 }] })
  const none = (await get('/v1/banks/nobody/growth')).json<Growth>()
  t.match(none, { from: '2026-01-04', until: '2026-02-02', count_before: 0 })
  t.equal(none.days.length, 30)
})

await t.test('the range of growth is clamped, and its last day must be one', async (t) => {
  const { get } = await testApp(t)
  t.equal((await get('/v1/banks/b/growth?days=100000')).json<Growth>().days.length, 366)
  t.equal((await get('/v1/banks/b/growth?days=-5')).json<Growth>().days.length, 1)
  t.match((await get('/v1/banks/b/growth?days=100&until=0000-01-02')).json<Growth>(), { from: '0000-01-01', until: '0000-01-02' })
  t.equal((await get('/v1/banks/b/growth?days=2&until=9999-12-31')).json<Growth>().until, '9999-12-31')
  for (const until of ['2026-02-30', '2026-1-1', 'today', '2026-01-01T00:00:00Z']) {
    const response = await get(`/v1/banks/b/growth?until=${until}`)
    refusedFields(t, response, 'until')
  }
})

await t.test('growth asks for read, and for a store that counts by day', async (t) => {
  const file = { access_control: { enabled: true, default_policy: 'deny' as const } }
  const { get } = await testApp(t, { file })
  refused(t, await get('/v1/banks/b/growth', { 'x-service-principal': 'user:bob' }), 403, 'access_denied')
  const store = Object.assign(new InMemoryVectorStore(), { countByDay: undefined })
  refused(t, await (await testApp(t, {}, { store })).get('/v1/banks/b/growth'), 501, 'not_supported')
})
