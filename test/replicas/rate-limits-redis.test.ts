import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { TestApp } from '../helpers/app.js'
import { RedisServer, WITHOUT_REDIS } from '../helpers/redis-server.js'
import { refused } from '../routes/support.js'
import { exactOverTwo, LIMIT, recall, statuses, twoGateways } from './rate-limits.js'

const real = { skip: WITHOUT_REDIS }
type Settings = NonNullable<FileConfig['limits_store']>

function configured (url: string, more: Settings = {}) {
  return { file: { limits_store: { type: 'redis', url, timeout_ms: 5000, ...more } satisfies Settings } }
}

const isUp = async ({ app }: TestApp) => (
  Number(/^memory_gateway_limits_store_up (\d)$/m.exec(await app.metrics.render())?.[1])
)

/** Waits until each gateway knows whether the server is there. */
async function noticed (gateways: readonly TestApp[], up: boolean): Promise<void> {
  for (const gateway of gateways) {
    while (await isUp(gateway) !== Number(up)) await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
}

function lines ({ log }: TestApp): Array<Record<string, unknown>> {
  return log.filter(({ msg }) => String(msg).startsWith('limits_store'))
}

/** The line about a change, with its level. */
const LOST = { level: 40, msg: /it cannot be reached/ }
const FOUND = { level: 30, msg: /it is reached again/ }

t.test('gateways with one Redis count rate limits together', real, async (t) => {
  const { url } = await RedisServer.on(t)
  await exactOverTwo(t, configured(url))
})

t.test('local: while Redis is down, each gateway counts by itself, and says so once', real, async (t) => {
  const redis = await RedisServer.on(t)
  const gateways = await twoGateways(t, configured(redis.url))
  t.same(await statuses(gateways, 50), { 200: 50 })
  // Some are in progress when the server dies.
  const during = statuses(gateways, 40)
  await redis.kill()
  t.same(await during, { 200: 40 })
  await noticed(gateways, false)
  const { 200: admitted = 0 } = await statuses(gateways, 400)
  t.ok(admitted <= 2 * LIMIT && admitted >= 2 * LIMIT - 40, `${admitted} admitted besides those in progress`)
  for (const gateway of gateways) {
    t.equal((await recall(gateway)).statusCode, 429, 'the limit holds in each')
    const health = await gateway.get('/health')
    t.equal(health.statusCode, 200)
    t.match(health.json(), { checks: { limits_store: { status: 'degraded' } } })
    t.match(lines(gateway), [LOST])
    t.notMatch(JSON.stringify(lines(gateway)), redis.url)
  }
  await redis.start()
  await noticed(gateways, true)
  t.same(await statuses(gateways, 400), { 200: LIMIT, 429: 300 }, 'it holds for both together again')
  for (const gateway of gateways) {
    t.match((await gateway.get('/health')).json(), { checks: { limits_store: { status: 'ok' } } })
    t.match(lines(gateway), [LOST, FOUND])
    t.equal(lines(gateway).length, 2)
  }
})

t.test('refuse: while Redis is down, operations with limits are 503, and the gateway is not ready', real, async (t) => {
  const redis = await RedisServer.on(t)
  const gateways = await twoGateways(t, configured(redis.url, { when_down: 'refuse' }))
  t.same(await statuses(gateways, 30), { 200: 30 })
  await redis.kill()
  t.same(await statuses(gateways, 40), { 503: 40 })
  for (const gateway of gateways) {
    const answer = await recall(gateway)
    refused(t, answer, 503, 'dependency_unavailable')
    t.notMatch(answer.body, /redis|127\.0\.0\.1/i)
    refused(t, await gateway.get('/health'), 503, 'dependency_unavailable', { detail: /limits_store/ })
    t.equal((await gateway.get('/v1/banks')).statusCode, 200, 'what has no limit goes on')
    t.match(lines(gateway), [LOST])
  }
  await redis.start()
  await noticed(gateways, true)
  t.same(await statuses(gateways, 30), { 200: 30 })
  t.equal((await gateways[0].get('/health')).statusCode, 200)
})

/** Milliseconds of one recall. */
async function timed (gateway: TestApp): Promise<number> {
  const start = performance.now()
  t.equal((await recall(gateway)).statusCode, 200)
  return performance.now() - start
}

t.test('a Redis that hangs delays a request by no more than timeout_ms', real, async (t) => {
  const redis = await RedisServer.on(t)
  const [gateway] = await twoGateways(t, configured(redis.url, { timeout_ms: 1000 }))
  t.equal((await recall(gateway)).statusCode, 200)
  redis.signal('SIGSTOP')
  const first = await timed(gateway)
  t.ok(first >= 900 && first < 5000, `${first} ms`)
  await noticed([gateway], false)
  t.ok(await timed(gateway) < 900, 'the next ones do not wait')
  redis.signal('SIGCONT')
  await noticed([gateway], true)
  t.equal((await recall(gateway)).statusCode, 200)
})

t.test('a gateway starts without Redis, and uses it as soon as it is there', real, async (t: Test) => {
  const redis = await RedisServer.on(t)
  await redis.kill()
  const gateways = await twoGateways(t, configured(redis.url))
  for (const gateway of gateways) t.match(lines(gateway), [LOST])
  t.equal((await recall(gateways[0])).statusCode, 200)
  await redis.start()
  await noticed(gateways, true)
  t.same(await statuses(gateways, 400), { 200: LIMIT, 429: 300 })
})
