import t from 'tap'
import { sending } from '../../helpers/jwks-server.js'
import { rsaKey } from '../../helpers/tokens.js'
import { until } from '../../helpers/waiting.js'
import { ask, setUp } from './key-source-setup.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const k1 = rsaKey('k1')
const k2 = rsaKey('k2')

await t.test('a key is returned as the same PEM each time, with one fetch', async (t) => {
  const { server, keys } = await setUp(t, [k1, k2])
  t.equal(await keys.pem('k1'), k1.publicPem)
  t.equal(await keys.pem('k1'), k1.publicPem)
  t.equal(await keys.pem('k2'), k2.publicPem)
  t.equal(server.requests, 1)
})

await t.test('concurrent callers share one fetch', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(
    keys, index % 2 === 0 ? 'k1' : `x${index}`,
  )))
  t.equal(answers.filter((answer) => answer === 'ok').length, 25)
  t.equal(answers.filter((answer) => answer === 'refused').length, 25)
  t.equal(server.requests, 1)
})

await t.test('unknown keys cost one fetch in thirty seconds, and the good key is served meanwhile', async (t) => {
  const { server, keys, advance } = await setUp(t, [k1])
  t.equal(await ask(keys, 'k1'), 'ok')
  for (let index = 0; index < 300; index += 1) t.equal(await ask(keys, `x${index}`), 'refused')
  t.equal(server.requests, 2)
  t.equal(await ask(keys, 'k1'), 'ok')
  advance(30 * SECOND - 1)
  t.equal(await ask(keys, 'y'), 'refused')
  t.equal(server.requests, 2)
  advance(1)
  await Promise.all(Array.from({ length: 100 }, (_, index) => ask(keys, `z${index}`)))
  t.equal(server.requests, 3)
  t.equal(await ask(keys, 'k1'), 'ok')
})

await t.test('unknown keys from the start cost one fetch', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  for (let index = 0; index < 300; index += 1) t.equal(await ask(keys, `x${index}`), 'refused')
  t.equal(server.requests, 1)
})

await t.test('a new key works at once, and after a rotation the old one is refused', async (t) => {
  const { server, keys, advance } = await setUp(t, [k1])
  t.equal(await ask(keys, 'k1'), 'ok')
  server.publish(k2)
  t.equal(await ask(keys, 'k1'), 'ok', 'within ten minutes there was no request')
  t.equal(await ask(keys, 'k2'), 'ok')
  t.equal(await ask(keys, 'k1'), 'refused')
  t.equal(server.requests, 2)
  server.publish(k1, k2)
  t.equal(await ask(keys, 'k1'), 'refused', 'the cooldown holds')
  advance(30 * SECOND)
  t.equal(await ask(keys, 'k1'), 'ok')
})

await t.test('a withdrawn key is refused once ten minutes have passed, however often it is used', async (t) => {
  const { server, keys, advance } = await setUp(t, [k1, k2])
  t.equal(await ask(keys, 'k1'), 'ok')
  server.publish(k2)
  for (let minute = 1; minute < 10; minute += 1) {
    advance(MINUTE)
    t.equal(await ask(keys, 'k1'), 'ok')
  }
  advance(MINUTE)
  t.equal(await ask(keys, 'k1'), 'refused')
  t.equal(await ask(keys, 'k2'), 'ok')
  t.equal(server.requests, 2)
})

await t.test('a key replaced under the same kid is the new key after ten minutes', async (t) => {
  const { server, keys, advance } = await setUp(t, [k1])
  const replacement = rsaKey('k1')
  t.equal(await keys.pem('k1'), k1.publicPem)
  server.publish(replacement)
  advance(10 * MINUTE)
  t.equal(await keys.pem('k1'), replacement.publicPem)
})

await t.test('while the provider is down the last keys serve for an hour, with a fetch each thirty ' +
  'seconds at most', async (t) => {
  const { server, keys, failures, advance } = await setUp(t, [k1])
  t.equal(await ask(keys, 'k1'), 'ok')
  server.answer(sending(500, '{}'))
  advance(10 * MINUTE)
  for (let count = 0; count < 10; count += 1) {
    t.equal(await ask(keys, 'k1'), 'ok')
    t.equal(await ask(keys, 'new'), 'refused')
  }
  t.equal(server.requests, 2)
  advance(30 * SECOND)
  t.equal(await ask(keys, 'k1'), 'ok')
  await until(() => failures.length === 2)
  t.equal(server.requests, 3)
  advance(50 * MINUTE - 30 * SECOND - 1)
  t.equal(await ask(keys, 'k1'), 'ok')
  t.equal(failures.length, 3)
  advance(1)
  t.equal(await ask(keys, 'k1'), 'unavailable 30', 'an hour after the fetch they are no longer accepted')
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
  advance(20 * SECOND)
  t.equal(await ask(keys, 'k1'), 'unavailable 10')
  server.publish(k1)
  t.equal(await ask(keys, 'k1'), 'unavailable 10')
  advance(10 * SECOND)
  t.equal(await ask(keys, 'k1'), 'ok')
})

await t.test('while the provider hangs only the first fetch is awaited, and one that succeeds is in ' +
  'force at once', async (t) => {
  const { server, keys, failures, advance } = await setUp(t, [k1], 50)
  t.equal(await ask(keys, 'k1'), 'ok')
  server.answer(() => {})
  advance(10 * MINUTE)
  t.equal(await ask(keys, 'k1'), 'ok')
  t.equal(failures.length, 1, 'the provider may have withdrawn the key')

  let respond: () => void = () => {}
  const send = sending(200, JSON.stringify({ keys: [k2.jwk] }))
  server.answer((request, response) => { respond = () => { send(request, response) } })
  advance(30 * SECOND)
  const answers = await Promise.all(['k1', 'k1', 'k1'].map(async (kid) => await ask(keys, kid)))
  t.same([answers, failures.length], [['ok', 'ok', 'ok'], 1])
  const unknown = ask(keys, 'k2')
  await until(() => server.requests === 3)
  respond()
  t.equal(await unknown, 'ok', 'a caller with an unknown key waits')
  t.equal(await ask(keys, 'k1'), 'refused')
  t.equal(server.requests, 3)
})

await t.test('ten minutes after a failed fetch the next is awaited again', async (t) => {
  const { server, keys, failures, advance } = await setUp(t, [k1])
  t.equal(await ask(keys, 'k1'), 'ok')
  server.answer(sending(500, '{}'))
  advance(10 * MINUTE)
  t.equal(await ask(keys, 'k1'), 'ok')
  server.publish(k2)
  advance(10 * MINUTE)
  t.equal(await ask(keys, 'k1'), 'refused')
  t.equal(failures.length, 1)
})

await t.test('without any key every caller is asked to retry later', async (t) => {
  const { server, keys, advance } = await setUp(t, [])
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
  advance(1500)
  t.equal(await ask(keys, 'k1'), 'unavailable 29')
  t.equal(server.requests, 1)
  server.publish(k1)
  advance(30 * SECOND)
  t.equal(await ask(keys, 'k1'), 'ok')
})

await t.test('a clock that is set back does not freeze the keys', async (t) => {
  const { server, keys, advance } = await setUp(t, [k1])
  t.equal(await ask(keys, 'k1'), 'ok')
  advance(-60 * MINUTE)
  server.publish(k2)
  t.equal(await ask(keys, 'k1'), 'refused')
  t.equal(await ask(keys, 'k2'), 'ok')
})

await t.test('a kid that cannot be looked up is refused without a fetch', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  for (const kid of [undefined, null, '', 7, {}, ['k1'], 'x'.repeat(201)]) t.equal(await ask(keys, kid), 'refused')
  t.equal(server.requests, 0)
  for (const kid of ['__proto__', 'constructor', '../../etc/passwd', 'http://127.0.0.1/', '\' OR 1=1 --', '\ud800']) {
    t.equal(await ask(keys, kid), 'refused')
  }
})

await t.test('a good key is served without waiting while a fetch for another hangs', async (t) => {
  const { server, keys } = await setUp(t, [k1], 500)
  t.equal(await ask(keys, 'k1'), 'ok')
  server.answer(() => {})
  let settled = false
  const other = ask(keys, 'new').finally(() => { settled = true })
  t.equal(await ask(keys, 'k1'), 'ok')
  t.equal(settled, false)
  t.equal(await other, 'refused')
})
