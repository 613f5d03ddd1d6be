import t from 'tap'
import { MemoryGatewayError, type CallOptions, type MemoryGatewayClient } from '../src/index.js'
import { retryDelay } from '../src/retry.js'
import { systemTiming } from '../src/timing.js'
import {
  ANSWER, answering, beginning, hangUp, HostileServer, refusing, silent, type Behaviour,
} from './hostile-server.js'

type Method = (client: MemoryGatewayClient, options?: CallOptions) => Promise<unknown>

const READS: Record<string, Method> = {
  recall: async (client, options) => await client.recall({ bank_id: 'bank', query: 'x' }, options),
  reflect: async (client, options) => await client.reflect({ bank_id: 'bank', query: 'x' }, options),
  getMemory: async (client, options) => await client.getMemory({ bank_id: 'bank', memory_id: 'x' }, options),
  whoami: async (client, options) => await client.whoami({}, options),
}
const KEYED: Record<string, Method> = {
  retain: async (client, options) => await client.retain({ bank_id: 'bank', content: 'x' }, options),
  retainBatch: async (client, options) => (
    await client.retainBatch({ bank_id: 'bank', items: [{ content: 'x' }] }, options)
  ),
  forget: async (client, options) => await client.forget({ bank_id: 'bank', scope: 'all' }, options),
  importBank: async (client, options) => await client.importBank({ bank_id: 'bank', lines: ['x'] }, options),
}
const WITHOUT_KEY: Record<string, Method> = {
  deleteBank: async (client, options) => await client.deleteBank({ bank_id: 'bank' }, options),
  putBankConfig: async (client, options) => await client.putBankConfig({ bank_id: 'bank', config: {} }, options),
  patchBankConfig: async (client, options) => await client.patchBankConfig({ bank_id: 'bank', patch: {} }, options),
  resetBankConfig: async (client, options) => await client.resetBankConfig({ bank_id: 'bank' }, options),
}
const ALL = { ...READS, ...KEYED, ...WITHOUT_KEY }
const ALIKE = answering(200, ANSWER)
const LOSSES: Record<string, Behaviour> = {
  'no answer': hangUp,
  'half an answer': beginning('application/json', '{"done":', 'cut'),
}
/** What a proxy answers that has no answer of the gateway. */
const PROXY_STATUSES = [502, 503, 504]

t.test('every method retries a request that was refused before any work', async (t) => {
  for (const [name, method] of Object.entries(ALL)) {
    const server = await HostileServer.start(t)
    const { client, waits } = server.client()
    server.meets(refusing(429, 'rate_limited', { 'retry-after': '2' }), refusing(503, 'server_busy'), ALIKE)
    t.same(await method(client), ANSWER, name)
    t.same(waits, [2125, 250], name)
    const bodies = server.requests.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`)
    t.equal(new Set(bodies).size, 1, `${name} sends the same`)
  }
})

t.test('a lost answer is requested again where a repeat has no second effect', async (t) => {
  for (const [what, loss] of Object.entries(LOSSES)) {
    for (const [name, method] of Object.entries({ ...READS, ...KEYED })) {
      const server = await HostileServer.start(t)
      server.meets(loss, loss, ALIKE)
      t.same(await method(server.client().client), ANSWER, `${name}, ${what}`)
      t.equal(server.requests.length, 3)
    }
    for (const [name, method] of Object.entries(WITHOUT_KEY)) {
      const server = await HostileServer.start(t)
      server.meets(loss, ALIKE)
      await t.rejects(
        method(server.client().client), { code: 'connection_lost', status: undefined }, `${name}, ${what}`,
      )
      t.equal(server.requests.length, 1)
    }
  }
})

t.test('the fault of a proxy is retried where a repeat has no second effect', async (t) => {
  for (const status of PROXY_STATUSES) {
    for (const [name, method] of Object.entries(ALL)) {
      const server = await HostileServer.start(t)
      server.meets(answering(status, '<html>'), ALIKE)
      const answer = method(server.client().client)
      if (name in WITHOUT_KEY) await t.rejects(answer, { code: 'unusable_answer', status }, `${name}, ${status}`)
      else t.same(await answer, ANSWER, `${name}, ${status}`)
    }
  }
})

t.test('a write that a proxy gave up is awaited while the gateway still works on it', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(answering(504, '<html>'), refusing(409, 'idempotency_key_in_flight', { 'retry-after': '1' }), ALIKE)
  const { client } = server.client()
  t.same(await client.retain({ bank_id: 'bank', content: 'x' }, { retries: 1 }), ANSWER)
})

t.test('a 502 of the gateway is an answer, and is not retried', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(refusing(502, 'model_output_invalid'), ALIKE)
  await t.rejects(server.client().client.recall({ bank_id: 'bank', query: 'x' }), { code: 'model_output_invalid' })
})

t.test('a fault that may have come after the work is retried only where a repeat has no second effect', async (t) => {
  for (const [name, method] of Object.entries(ALL)) {
    const server = await HostileServer.start(t)
    server.meets(refusing(503, 'dependency_unavailable'), ALIKE)
    const answer = method(server.client().client)
    if (name in WITHOUT_KEY) await t.rejects(answer, { code: 'dependency_unavailable', status: 503 }, name)
    else t.same(await answer, ANSWER, name)
  }
})

t.test('all attempts of a write have one key, and another write has another key', async (t) => {
  for (const [name, method] of Object.entries(KEYED)) {
    const server = await HostileServer.start(t)
    const { client } = server.client()
    server.meets(
      hangUp, refusing(503, 'shutting_down'), refusing(409, 'idempotency_key_in_flight', { 'retry-after': '1' }), ALIKE,
    )
    await method(client)
    await method(client)
    const keys = server.requests.map(({ headers }) => String(headers['idempotency-key']))
    t.same(keys.slice(0, 4).map((key) => key === keys[0] && /^[\da-f]{32}$/.test(key)), [true, true, true, true], name)
    t.not(keys[4], keys[0], name)
  }
  const server = await HostileServer.start(t)
  server.meets(ALIKE)
  const { client } = server.client()
  await client.retain({ bank_id: 'bank', content: 'x' }, { idempotencyKey: 'my-key' })
  await client.recall({ bank_id: 'bank', query: 'x' })
  t.same(server.requests.map(({ headers }) => headers['idempotency-key']), ['my-key', undefined])
})

t.test('a write whose answer was lost is repeated until the gateway has finished it', async (t) => {
  const inFlight = refusing(409, 'idempotency_key_in_flight', { 'retry-after': '1' })
  const server = await HostileServer.start(t)
  server.meets(hangUp, ...Array.from({ length: 20 }, () => inFlight), ALIKE)
  const { client, waits } = server.client({ retries: 1 })
  t.same(await client.retain({ bank_id: 'bank', content: 'x' }), ANSWER)
  t.same(waits, [125, ...Array.from({ length: 20 }, () => 1125)])

  const other = await HostileServer.start(t)
  other.meets(inFlight)
  const taken = other.client({ retries: 2 }).client.retain(
    { bank_id: 'bank', content: 'x' }, { idempotencyKey: 'of-another' },
  )
  await t.rejects(taken, { code: 'idempotency_key_in_flight', status: 409, retryAfter: 1 })
  t.equal(other.requests.length, 3)
})

t.test('an error that a retry cannot resolve is thrown at once', async (t) => {
  const failures: Array<[status: number, code: string]> = [
    [400, 'invalid_request'], [403, 'access_denied'], [404, 'not_found'], [409, 'idempotency_key_reused'],
    [413, 'body_too_large'], [500, 'internal_error'], [502, 'model_output_invalid'], [503, 'deadline_exceeded'],
  ]
  for (const [status, code] of failures) {
    const server = await HostileServer.start(t)
    server.meets(refusing(status, code))
    const expected = { name: 'MemoryGatewayError', code, status, requestId: 'r-1', message: `The detail of ${code}` }
    await t.rejects(server.client().client.retain({ bank_id: 'bank', content: 'x' }), expected)
    t.equal(server.requests.length, 1, code)
  }
})

t.test('the attempts end with the last failure', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(hangUp)
  const { client, waits } = server.client()
  await t.rejects(client.whoami(), { code: 'connection_lost' })
  t.same(waits, [125, 250, 500, 1000])
  await t.rejects(client.whoami({}, { retries: 1 }), { code: 'connection_lost' })
  t.equal(server.requests.length, 5 + 2)
  await t.rejects(server.client({ retries: 0 }).client.whoami(), { code: 'connection_lost' })
  await t.rejects(server.client().client.health(), { code: 'connection_lost' })
  t.equal(server.requests.length, 7 + 2)
})

t.test('a pause that would outlast the call does not begin', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(refusing(429, 'quota_exceeded', { 'retry-after': '3600' }))
  const { client, waits } = server.client()
  await t.rejects(client.whoami(), { code: 'quota_exceeded', retryAfter: 3600 })
  t.same([waits, server.requests.length], [[], 1])
})

t.test('Retry-After is read as seconds, as a date, and from the body', async (t) => {
  const now = Date.parse('2026-01-15T10:00:00Z')
  const forms: Array<[headers: Record<string, string>, body: unknown, seconds: number | undefined]> = [
    [{ 'retry-after': '7' }, {}, 7],
    [{ 'retry-after': 'Thu, 15 Jan 2026 10:00:09 GMT' }, {}, 9],
    [{ 'retry-after': 'Thu, 15 Jan 2026 09:00:00 GMT' }, {}, 0],
    [{}, { retry_after_seconds: 3 }, 3],
    [{ 'retry-after': 'soon' }, { retry_after_seconds: -1 }, undefined],
    [{}, '<html>', undefined],
  ]
  for (const [headers, body, retryAfter] of forms) {
    const server = await HostileServer.start(t)
    server.meets(answering(429, body, headers))
    const { client } = server.client({ retries: 0, timing: { now: () => now } })
    await t.rejects(
      client.whoami(), { code: 'unusable_answer', status: 429, retryAfter }, JSON.stringify([headers, body]),
    )
  }
})

t.test('pauses grow, and each has a random length between zero and its maximum', async (t) => {
  const failure = new MemoryGatewayError('connection_lost', '')
  const longest = [0, 1, 2, 5, 6, 1000].map((attempt) => retryDelay(attempt, failure, () => 1))
  t.same(longest, [250, 500, 1000, 8000, 8000, 8000])
  t.equal(retryDelay(3, failure, () => 0), 0)
  const asked = new MemoryGatewayError('rate_limited', '', { retryAfter: 5 })
  t.same([0, 1].map((chance) => retryDelay(9, asked, () => chance)), [5000, 5250])
})

t.test('a response that does not come from a gateway is reported as such', async (t) => {
  const answers: Behaviour[] = [
    answering(200, '<html>Welcome</html>'), answering(200, '{"hits":['), answering(200, '[]'), answering(200, 'null'),
    answering(200, ''), answering(204, ''), answering(500, '<html>Fault</html>'), answering(418, '{"error":{}}'),
    answering(200, '{"object":"list","data":[]}'),
  ]
  for (const answer of answers) {
    const server = await HostileServer.start(t)
    server.meets(answer)
    await t.rejects(server.client().client.recall({ bank_id: 'bank', query: 'x' }), { code: 'unusable_answer' })
    t.equal(server.requests.length, 1)
  }
})

t.test('an answer that is longer than any of a gateway is not read to its end', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, ' ')
  for (const status of [200, 400]) {
    const server = await HostileServer.start(t)
    let sent = 0
    const closed = new Promise<void>((resolve) => {
      server.meets((response) => {
        response.once('close', resolve)
        response.writeHead(status, { 'content-type': 'application/json' })
        const send = () => {
          // Without the bound the answer ends here, so that this test fails and does not hang.
          if (sent === 200) response.end()
          else if (response.write(chunk, () => { sent++ })) setImmediate(send)
          else response.once('drain', send)
        }
        send()
      })
    })
    await t.rejects(
      server.client().client.recall({ bank_id: 'bank', query: 'x' }),
      { code: 'unusable_answer', status, ...status === 200 && { message: 'The answer has more than 10485760 bytes' } },
    )
    await closed
    t.ok(sent < 100, `${sent} MiB were sent`)
  }
  const server = await HostileServer.start(t)
  const longest = JSON.stringify(ANSWER).padEnd(10 * 1024 * 1024)
  server.meets(answering(200, longest), answering(200, `${longest} `))
  const { client } = server.client()
  t.same(await client.recall({ bank_id: 'bank', query: 'x' }), ANSWER)
  await t.rejects(client.recall({ bank_id: 'bank', query: 'x' }), { code: 'unusable_answer' })
})

t.test('a call ends when its time is up, however much of the answer has arrived', async (t) => {
  for (const behaviour of [silent, beginning('application/json', '{"done":', 'silence')]) {
    const server = await HostileServer.start(t)
    server.meets(behaviour)
    for (const method of Object.values(ALL)) {
      await t.rejects(method(server.client({ timeoutMs: 20 }).client), { code: 'timed_out', status: undefined })
    }
  }
})

t.test('an invalid timeout or number of retries is the fault of the caller, and nothing is sent', async (t) => {
  const server = await HostileServer.start(t)
  for (const options of [{ timeoutMs: 0 }, { timeoutMs: -1 }, { timeoutMs: NaN }, { retries: -1 }, { retries: NaN }]) {
    const fault = { name: 'RangeError', message: / must be a number / }
    t.throws(() => server.client(options), fault)
    await t.rejects(server.client().client.whoami({}, options), fault)
  }
  t.equal(server.requests.length, 0)
})

t.test('the abort signal of the caller ends a call with its own reason', async (t) => {
  const server = await HostileServer.start(t)
  const reason = new RangeError('enough')
  await t.rejects(server.client().client.whoami({}, { signal: AbortSignal.abort(reason) }), reason)
  t.equal(server.requests.length, 0)

  const meanwhile = new AbortController()
  server.meets(() => { meanwhile.abort(reason) })
  for (const method of Object.values(ALL)) {
    await t.rejects(method(server.client().client, { signal: meanwhile.signal }), reason)
  }
  t.equal(server.requests.length, 1, 'nothing is sent after the signal')

  const between = new AbortController()
  server.meets(refusing(503, 'server_busy', { 'retry-after': '1' }))
  // The real wait: unless the signal ends it, the next try is made behind it, and refused with another error.
  const sleep = async (milliseconds: number, signal: AbortSignal) => {
    const wait = systemTiming.sleep(milliseconds, signal)
    between.abort(reason)
    await wait
  }
  const timing = { sleep }
  await t.rejects(server.client({ timing }).client.whoami({}, { signal: between.signal }), reason)
})

t.test('a call leaves no listener on the abort signal of the caller', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(ALIKE)
  const { signal } = new AbortController()
  const listeners = new Set<unknown>()
  signal.addEventListener = (_type: string, listener: unknown) => { listeners.add(listener) }
  signal.removeEventListener = (_type: string, listener: unknown) => { listeners.delete(listener) }
  for (const method of Object.values(ALL)) await method(server.client().client, { signal })
  t.equal(listeners.size, 0)
})
