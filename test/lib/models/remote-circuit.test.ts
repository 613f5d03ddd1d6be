import t from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import type { CallOptions, ResilientCalls } from '../../../lib/models/remote/resilient-calls.js'
import { gate } from '../../helpers/waiting.js'
import { failing, failure, make, NEVER, outcome } from './remote-support.js'

const breaker = { threshold: 2, recoveryMs: 1000 }

/** A timer that moves only with `advance`; the circuit's recovery is measured with it. */
function stopTime (): { timer: () => number, advance: (milliseconds: number) => void } {
  let now = 0
  return { timer: () => now, advance: (milliseconds) => { now += milliseconds } }
}

const faults: Array<[error: ModelCallError, counts: boolean]> = [
  [failure('timeout'), true],
  [failure('unreachable'), true],
  [failure('unreachable', { status: 500 }), true],
  [failure('unusable'), true],
  [failure('rejected', { status: 401 }), true],
  [failure('rejected', { status: 403 }), true],
  [failure('rejected', { status: 400 }), false],
  [failure('rejected', { status: 404 }), false],
  [failure('rejected', { status: 422 }), false],
  [failure('rate_limited', { status: 429 }), false],
]
for (const [error, counts] of faults) {
  t.test(`${error.kind} (${error.status ?? 'no status'}) ${counts ? 'opens' : 'does not open'} ` +
    'the circuit', async (t) => {
    const { calls } = make({ breaker, maxRetries: 0 })
    for (let call = 0; call < 2; call++) t.equal(await outcome(calls.call(failing(error).work)), error.kind)
    t.equal(await outcome(calls.call(failing().work)), counts ? 'circuit_open' : 'done')
  })
}

t.test('a success between two faults keeps the circuit closed', async (t) => {
  const { calls } = make({ breaker, maxRetries: 0 })
  for (let round = 0; round < 3; round++) {
    t.equal(await outcome(calls.call(failing(failure('unreachable')).work)), 'unreachable')
    t.equal(await outcome(calls.call(failing().work)), 'done')
  }
})

t.test('retries count, and stop when the circuit opens', async (t) => {
  const { calls } = make({ breaker })
  const failed = failing(...Array.from({ length: 4 }, () => failure('unreachable')))
  t.equal(await outcome(calls.call(failed.work)), 'circuit_open')
  t.equal(failed.attempts(), 2)
})

t.test('callers that leave do not open the circuit', async (t) => {
  const { calls } = make({ breaker })
  for (let call = 0; call < 3; call++) {
    const leaving = new AbortController()
    await t.rejects(calls.call(async () => {
      leaving.abort(new Error('gone'))
      return await NEVER
    }, { signal: leaving.signal }), new Error('gone'))
  }
  t.equal(await calls.call(failing().work), 'done')
})

/** Calls whose circuit has just opened. */
async function opened (
  options: { halfOpenCalls?: number } = {},
): Promise<{ calls: ResilientCalls, advance: (milliseconds: number) => void }> {
  const { timer, advance } = stopTime()
  const { calls } = make({ breaker: { ...breaker, ...options }, maxRetries: 0, maxConcurrency: 5, tools: { timer } })
  for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unreachable')).work))
  return { calls, advance }
}

t.test('an open circuit sends no request before the recovery time is over', async (t) => {
  const { calls, advance } = await opened()
  advance(999)
  const failed = failing()
  t.equal(await outcome(calls.call(failed.work)), 'circuit_open')
  t.equal(failed.attempts(), 0)
  advance(1)
  t.equal(await outcome(calls.call(failed.work)), 'done')
})

t.test('one trial is made and other calls are refused meanwhile, and its success closes the circuit', async (t) => {
  const { calls, advance } = await opened()
  advance(1000)
  const { opened: answered, open } = gate()
  const trial = calls.call(async () => { await answered })
  t.strictSame(
    await Promise.all([outcome(calls.call(failing().work)), outcome(calls.call(failing().work))]),
    ['circuit_open', 'circuit_open'],
  )
  open()
  await trial
  t.strictSame(
    await Promise.all([outcome(calls.call(failing().work)), outcome(calls.call(failing().work))]), ['done', 'done'],
  )
})

t.test('a trial that fails opens the circuit again', async (t) => {
  const { calls, advance } = await opened()
  advance(1000)
  t.equal(await outcome(calls.call(failing(failure('timeout')).work)), 'timeout')
  advance(999)
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open')
  advance(1)
  t.equal(await outcome(calls.call(failing().work)), 'done')
})

t.test('a trial whose caller leaves decides nothing, and its place goes to another call', async (t) => {
  const { calls, advance } = await opened()
  advance(1000)
  const leaving = new AbortController()
  await t.rejects(calls.call(async () => {
    leaving.abort(new Error('gone'))
    return await NEVER
  }, { signal: leaving.signal }), new Error('gone'))
  t.equal(calls.status().breaker.state, 'half_open')
  t.equal(await outcome(calls.call(failing(failure('unreachable')).work)), 'unreachable', 'another trial is made')
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open', 'and decides')
})

t.test('a refusal says when the next trial is', async (t) => {
  const { calls, advance } = await opened()
  advance(400)
  await t.rejects(calls.call(failing().work), new ModelCallError(
    'circuit_open', 'The model failed 2 times in a row and is not asked for a while', { retryAfterMs: 600 },
  ))
})

t.test('at most the allowed number of trials is made at a time', async (t) => {
  const { calls, advance } = await opened({ halfOpenCalls: 2 })
  advance(1000)
  const { opened: answered, open } = gate()
  const trials = [1, 2].map(async () => await calls.call(async () => { await answered }))
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open')
  open()
  await Promise.all(trials)
  t.equal(await outcome(calls.call(failing().work)), 'done')
})

t.test('a call is refused at once while the circuit is open, even when all slots are held', async (t) => {
  const { calls } = make({ breaker: { ...breaker, threshold: 1 }, maxRetries: 0, maxConcurrency: 2 })
  const { opened: answered, open } = gate()
  const held = calls.call(async () => { await answered })
  t.equal(await outcome(calls.call(failing(failure('unreachable')).work)), 'unreachable')
  const other = calls.call(failing().work)
  t.equal(await outcome(other), 'circuit_open')
  open()
  await held
})

t.test('an unexpected error counts as a fault', async (t) => {
  const { calls } = make({ breaker })
  for (let call = 0; call < 2; call++) {
    await t.rejects(calls.call(async () => { throw new RangeError('a mistake') }), RangeError)
  }
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open')
})

t.test('time', async (t) => {
  const cases: Array<[name: string, options: CallOptions, counts: boolean]> = [
    ['a caller that leaves an attempt less time than it may take does not open the circuit', { timeoutMs: 20 }, false],
    ['an attempt that had all its time opens the circuit', {}, true],
    ['an attempt of a kind that may take less opens the circuit', { timeoutMs: 20, attemptTimeoutMs: 20 }, true],
  ]
  for (const [name, options, counts] of cases) {
    t.test(name, async (t) => {
      const { calls } = make({ breaker, maxRetries: 0, attemptTimeoutMs: 30, tools: { timer: () => 0 } })
      for (let call = 0; call < 2; call++) {
        t.equal(await outcome(calls.call(async () => await NEVER, options)), 'timeout')
      }
      t.equal(await outcome(calls.call(failing().work)), counts ? 'circuit_open' : 'done')
    })
  }
})

t.test('tenants', async (t) => {
  const [a, b] = [{ tenantId: 'a' }, { tenantId: 'b' }]

  t.test('unusable answers of one tenant are refused to that tenant only', async (t) => {
    const { calls } = make({ breaker, maxRetries: 0, tools: { timer: () => 0 } })
    for (let call = 0; call < 2; call++) {
      t.equal(await outcome(calls.call(failing(failure('unusable')).work, a)), 'unusable')
    }
    await t.rejects(calls.call(failing().work, a), new ModelCallError(
      'circuit_open', 'The model failed 2 times in a row for this tenant and is not asked by it for a while',
      { retryAfterMs: 1000 },
    ))
    t.equal(await outcome(calls.call(failing().work, b)), 'done')
    t.equal(await outcome(calls.call(failing().work, { tenantId: null })), 'done')
    t.strictSame(calls.status().breaker, { state: 'closed', tenantsOpen: 1 })
  })

  t.test('a refused tenant does not use up a trial call of the model', async (t) => {
    const { timer, advance } = stopTime()
    const { calls } = make({ breaker, maxRetries: 0, tools: { timer } })
    for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unreachable')).work))
    advance(500)
    t.equal(await outcome(calls.call(failing().work, a)), 'circuit_open')
    advance(500)
    t.equal(
      await outcome(calls.call(failing(failure('unusable')).work, a)), 'unusable',
      'an answer arrived, so the model is up',
    )
    t.equal(calls.status().breaker.state, 'closed')
  })

  t.test('an endpoint that is down opens the circuit for all callers', async (t) => {
    const { calls } = make({ breaker, maxRetries: 0 })
    for (const tenant of [a, b]) await outcome(calls.call(failing(failure('unreachable')).work, tenant))
    t.equal(await outcome(calls.call(failing().work, { tenantId: 'c' })), 'circuit_open')
    t.strictSame(calls.status().breaker, { state: 'open', tenantsOpen: 0 })
  })

  t.test('a successful trial closes the circuit of the tenant', async (t) => {
    const { timer, advance } = stopTime()
    const { calls } = make({ breaker, maxRetries: 0, tools: { timer } })
    for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unusable')).work, a))
    advance(1000)
    t.equal(await outcome(calls.call(failing().work, a)), 'done')
    t.strictSame(calls.status().breaker, { state: 'closed', tenantsOpen: 0 })
  })
})

t.test('the refusal of a full queue contains the recent duration of calls', async (t) => {
  const { timer, advance } = stopTime()
  const { calls } = make({ maxWaiting: 0, tools: { timer } })
  for (let call = 0; call < 100; call++) await calls.call(async () => { advance(5000) })
  const { opened: answered, open } = gate()
  const held = calls.call(async () => { await answered })
  const refused = await calls.call(failing().work).catch((error: unknown) => error)
  t.match(refused, { kind: 'overloaded', retryAfterMs: 5000 })
  t.strictSame(calls.status(), { breaker: { state: 'closed', tenantsOpen: 0 }, running: 1, waiting: 0 })
  open()
  await held
})
