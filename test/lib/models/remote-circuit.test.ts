import t, { type Test } from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import type { ResilientCalls } from '../../../lib/models/remote/resilience.js'
import { failing, failure, gate, make, NEVER, outcome } from './remote-support.js'

const breaker = { threshold: 2, recoveryMs: 1000 }

/** A system clock that stands still; the circuit's recovery is measured with it. */
function stopTime (t: Test): { advance: (milliseconds: number) => void } {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now, configurable: true, writable: true })
  return { advance: (milliseconds) => { now += milliseconds } }
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
  t.test(`${error.kind} (${error.status ?? 'no status'}) ${counts ? 'opens' : 'does not open'} the circuit`, async (t) => {
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
  await t.rejects(calls.call(failed.work), new ModelCallError('circuit_open', 'The model failed 2 times in a row and is not asked for a while'))
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
async function opened (t: Test): Promise<{ calls: ResilientCalls, advance: (milliseconds: number) => void }> {
  const { advance } = stopTime(t)
  const { calls } = make({ breaker, maxRetries: 0, maxConcurrency: 5 })
  for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unreachable')).work))
  return { calls, advance }
}

t.test('an open circuit asks nothing before the recovery time is over', async (t) => {
  const { calls, advance } = await opened(t)
  advance(999)
  const failed = failing()
  t.equal(await outcome(calls.call(failed.work)), 'circuit_open')
  t.equal(failed.attempts(), 0)
  advance(1)
  t.equal(await outcome(calls.call(failed.work)), 'done')
})

t.test('one trial is made and the others are refused meanwhile; its success closes the circuit', async (t) => {
  const { calls, advance } = await opened(t)
  advance(1000)
  const { opened: answered, open } = gate()
  const trial = calls.call(async () => { await answered })
  t.strictSame(await Promise.all([outcome(calls.call(failing().work)), outcome(calls.call(failing().work))]), ['circuit_open', 'circuit_open'])
  open()
  await trial
  t.strictSame(await Promise.all([outcome(calls.call(failing().work)), outcome(calls.call(failing().work))]), ['done', 'done'])
})

t.test('a trial that fails opens the circuit again', async (t) => {
  const { calls, advance } = await opened(t)
  advance(1000)
  t.equal(await outcome(calls.call(failing(failure('timeout')).work)), 'timeout')
  advance(999)
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open')
  advance(1)
  t.equal(await outcome(calls.call(failing().work)), 'done')
})

t.test('a trial whose caller leaves tells nothing, so the circuit stays open', async (t) => {
  const { calls, advance } = await opened(t)
  advance(1000)
  const leaving = new AbortController()
  await t.rejects(calls.call(async () => {
    leaving.abort(new Error('gone'))
    return await NEVER
  }, { signal: leaving.signal }), new Error('gone'))
  t.equal(await outcome(calls.call(failing().work)), 'circuit_open')
  advance(1000)
  t.equal(await outcome(calls.call(failing().work)), 'done')
})
