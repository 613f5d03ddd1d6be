import t from 'tap'
import { RequestHistory } from '../../lib/base/request-history.js'
import { testApp } from '../helpers/app.js'
import { as, refused, refusedFields } from '../routes/support.js'

interface Answer {
  interval_seconds: number
  samples: Array<Record<string, number | null> & { at: string }>
}

function historyOf () {
  let now = Date.parse('2026-01-15T10:00:03Z')
  let rss = 100
  const history = new RequestHistory({ clock: () => now, memory: () => ({ rss: rss++, heapUsed: 1 }) })
  return { history, advance: (ms: number) => { now += ms }, begin: Date.parse('2026-01-15T10:00:00Z') }
}

t.test('quantiles are within 12 percent, and no more than the longest', async (t) => {
  const { history } = historyOf()
  for (let ms = 1; ms <= 1000; ms++) history.observe('ok', ms)
  const [{ p50, p90, p99, longest, requests }] = history.samples() as [ReturnType<typeof history.samples>[0]]
  for (const [found, exact] of [[p50, 500], [p90, 900], [p99, 990]] as const) {
    t.ok(Math.abs(found! / exact - 1) <= 0.12, `${found} of ${exact}`)
  }
  t.same([longest, requests], [1000, 1000])
})

t.test('durations beyond all buckets and below the first count too', async (t) => {
  const { history } = historyOf()
  for (const ms of [0, 1e9]) history.observe('ok', ms)
  t.match(history.samples(), [{ requests: 2, longest: 1e9 }])
})

t.test('steps are closed one by one, also empty ones, and are kept for an hour', async (t) => {
  const { history, advance, begin } = historyOf()
  history.observe('ok', 5)
  history.observe('client_error', 5)
  history.observe('server_error', 5)
  advance(30_000)
  t.match(history.samples(), [
    { at: begin, requests: 3, clientErrors: 1, serverErrors: 1, longest: 5 },
    { at: begin + 10_000, requests: 0, p50: null, longest: null }, { at: begin + 20_000, requests: 0 }, {
      at: begin + 30_000, requests: 0,
    },
  ])
  t.match(history.samples(begin + 20_000).map(({ at }) => at - begin), [20_000, 30_000])
  for (let step = 0; step < 400; step++) {
    advance(10_000)
    history.observe('ok', 1)
  }
  t.equal(history.samples().length, 361)
  advance(1e12)
  t.equal(history.samples().length, 361, 'a clock that leaps forward makes no more steps')
  t.equal(history.samples().reduce((sum, { requests }) => sum + requests, 0), 0)
  advance(-1e9)
  history.observe('ok', 1)
  t.equal(history.samples().at(-1)!.requests, 1, 'a clock that goes back makes none either')
})

t.test('the route reports the requests of callers, and neither those of probes nor of operators', async (t) => {
  const { app, get, post, clock } = await testApp(t, { adminToken: 'operator', auth: { mode: 'dev' } })
  const token = { 'x-admin-token': 'operator' }
  await get('/v1/banks')
  await post('/v1/recall', {})
  await get('/health')
  await get('/v1/admin/banks', token)
  clock.advance(10_000)
  await get('/v1/banks', as('user:bob'))
  const { interval_seconds: seconds, samples } = (await get('/v1/admin/history', token)).json<Answer>()
  t.equal(seconds, 10)
  t.match(samples, [{ requests: 2, client_errors: 1, server_errors: 0 }, { requests: 1, client_errors: 0 }])
  t.ok(samples.every(({ rss_bytes: rss, heap_used_bytes: heap }) => rss! > 0 && heap! > 0))
  const later = (await get(`/v1/admin/history?since=${samples[1]!.at}`, token)).json<Answer>()
  t.same(later.samples.map(({ at }) => at), [samples[1]!.at])
  refusedFields(t, await get('/v1/admin/history?since=yesterday', token), 'since')
  refused(t, await get('/v1/admin/history'), 401, 'unauthenticated')
  t.ok(app.requestHistory)
})
