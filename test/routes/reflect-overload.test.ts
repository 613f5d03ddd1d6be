import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp } from '../helpers/app.js'
import type { TestConfig } from '../helpers/config.js'
import { EventReader } from '../helpers/events.js'
import { garbage, hangUp, says, silent, startLanguageServer } from '../helpers/language-server.js'
import { answerOf, listening, modelStatus, remoteModel, tenants, until } from './reflecting.js'
import { refused } from './support.js'

const QUESTION = { bank_id: 'bank', query: 'Where does Alice live?' }

async function remote (t: Test, {
  settings = {}, file = {}, more = {},
}: { settings?: Record<string, unknown>, file?: FileConfig, more?: TestConfig } = {}) {
  const server = await startLanguageServer(t)
  const app = await testApp(t, { ...more, file: { ...remoteModel(server, settings), ...file } })
  return {
    server,
    app,
    ask: async (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) => (
      await app.post('/v1/reflect', { ...QUESTION, ...body }, headers)
    ),
  }
}

await t.test('with one call at a time and one that waits, the third is refused with a time to retry', async (t) => {
  const { server, app, ask } = await remote(t, {
    settings: { max_concurrency: 1, max_waiting: 1 }, file: { homeostasis: { quotas: { reflect_per_day: 3 } } },
  })
  await app.retain('bank', 'Alice lives in Lyon.')
  const release = server.hold()
  const first = ask()
  await server.received(1)
  const second = ask()
  await until(() => modelStatus(app).waiting === 1)

  await t.test('as JSON', async (t) => {
    const third = await ask()
    refused(t, third, 429, 'overloaded', { retry_after_seconds: Number(third.headers['retry-after']) })
    t.ok(Number(third.headers['retry-after']) >= 1)
  })
  await t.test('as an event, when a client requests events', async (t) => {
    const reader = await EventReader.open(t, await listening(app), QUESTION)
    t.match(await reader.all(), [
      { event: 'evidence' }, { event: 'error', data: { code: 'overloaded', retry_after_seconds: Number } },
    ])
  })

  release()
  t.match(answerOf(await first), { answer: 'Alice lives in Lyon. [1]' })
  t.match(answerOf(await second), { answer: 'Alice lives in Lyon. [1]' })
  t.equal(server.requests.length, 2)
  t.equal(server.mostAtOnce, 1)
  t.equal((await ask()).statusCode, 200, 'the refused requests have not used the daily quota of three')
})

await t.test('a waiting call is refused when its time is over, and then occupies no place', async (t) => {
  const { server, app, ask } = await remote(t, { settings: { max_concurrency: 1, max_waiting: 1 } })
  await app.retain('bank', 'Alice lives in Lyon.')
  const release = server.hold()
  const first = ask()
  await server.received(1)
  refused(t, await ask({ timeout_ms: 800 }), 429, 'overloaded')
  t.equal(modelStatus(app).waiting, 0)
  release()
  t.equal((await first).statusCode, 200)
})

await t.test('a failing model is not called for a while, then tried by one call, and used again', async (t) => {
  const { server, app, ask } = await remote(t, {
    file: {
      escalation: { circuit_breaker: { failure_threshold: 2, recovery_timeout_seconds: 30, half_open_max_calls: 1 } },
    },
  })
  await app.retain('bank', 'Alice lives in Lyon.')
  server.next(hangUp, says('Lyon. [1]'), hangUp, hangUp)
  const statuses: number[] = []
  for (let index = 0; index < 4; index++) statuses.push((await ask()).statusCode)
  t.same(statuses, [503, 200, 503, 503], 'a successful answer resets the count')
  const refusal = await ask()
  refused(t, refusal, 503, 'dependency_unavailable', { retry_after_seconds: 30 })
  t.equal(refusal.headers['retry-after'], '30')
  t.equal(server.requests.length, 4, 'the model was not called')
  t.match(modelStatus(app).breaker, { state: 'open' })
  t.notMatch(refusal.body, /times in a row|127\.0\.0\.1/)
})

await t.test('after the recovery time one call tries the model', async (t) => {
  const { server, app, ask } = await remote(t, {
    file: {
      escalation: {
        circuit_breaker: { failure_threshold: 1, recovery_timeout_seconds: 0.001, half_open_max_calls: 1 },
      },
    },
  })
  await app.retain('bank', 'Alice lives in Lyon.')
  server.next(hangUp)
  t.equal((await ask()).statusCode, 503)
  await until(() => modelStatus(app).breaker?.state === 'half_open')
  const release = server.hold()
  const trial = ask()
  await server.received(2)
  refused(t, await ask(), 503, 'dependency_unavailable')
  t.equal(server.requests.length, 2, 'one at a time')
  release()
  t.equal((await trial).statusCode, 200)
  t.equal(modelStatus(app).breaker?.state, 'closed')
  t.equal((await ask()).statusCode, 200)
})

await t.test('the extractive mode answers while the circuit is open', async (t) => {
  const { server, app, ask } = await remote(t, {
    file: { escalation: { degraded_mode: 'extractive', circuit_breaker: { failure_threshold: 1 } } },
  })
  await app.retain('bank', 'Alice lives in Lyon.')
  server.next(hangUp)
  for (let index = 0; index < 3; index++) {
    t.match(answerOf(await ask()), { answer: '"Alice lives in Lyon." [1]', degraded: ['model'] })
  }
  t.equal(server.requests.length, 1)
})

await t.test('an answer that the caller did not wait for is no fault of the model', async (t) => {
  const { server, app, ask } = await remote(t, { file: { escalation: { circuit_breaker: { failure_threshold: 1 } } } })
  await app.retain('bank', 'Alice lives in Lyon.')
  server.next(silent)
  refused(t, await ask({ timeout_ms: 800 }), 503, 'deadline_exceeded')
  t.match(modelStatus(app).breaker, { state: 'closed' })
  t.equal((await ask()).statusCode, 200)
})

await t.test('faults that one tenant causes open the circuit for that tenant only', async (t) => {
  const { auth, of } = await tenants(t)
  const { server, app, ask } =
    await remote(t, { more: { auth }, file: { escalation: { circuit_breaker: { failure_threshold: 2 } } } })
  const [one, other] = [of('one'), of('other')]
  for (const headers of [one, other]) await app.retain('bank', 'Alice lives in Lyon.', {}, headers)
  server.next(garbage('html'), garbage('json'))
  for (let index = 0; index < 2; index++) refused(t, await ask({}, one), 502, 'model_output_invalid')
  refused(t, await ask({}, one), 503, 'dependency_unavailable', { retry_after_seconds: 30 })
  t.equal(server.requests.length, 2)
  t.equal((await ask({}, other)).statusCode, 200)
  t.same(modelStatus(app).breaker, { state: 'closed', tenantsOpen: 1 })
})
