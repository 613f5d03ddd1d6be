import t from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { ResilientCalls } from '../../../lib/models/remote/resilient-calls.js'
import { gate } from '../../helpers/waiting.js'
import { failing, failure, make, NEVER, outcome } from './remote-support.js'

t.test('retries', async (t) => {
  const cases: Array<[error: ModelCallError, attempts: number]> = [
    [failure('timeout'), 4],
    [failure('unreachable'), 4],
    [failure('unreachable', { status: 503 }), 4],
    [failure('rate_limited', { status: 429 }), 4],
    [failure('rejected', { status: 400 }), 1],
    [failure('rejected', { status: 401 }), 1],
    [failure('unusable'), 1],
  ]
  for (const [error, attempts] of cases) {
    t.test(`a call that stays ${error.kind} (${error.status ?? 'no status'}) makes ${attempts} ` +
      `${attempts === 1 ? 'attempt' : 'attempts'}`, async (t) => {
      const { calls } = make()
      const failed = failing(...Array.from({ length: 10 }, () => error))
      await t.rejects(calls.call(failed.work), error)
      t.equal(failed.attempts(), attempts)
    })
  }

  t.test('an unexpected error is not retried', async (t) => {
    let attempts = 0
    await t.rejects(make().calls.call(async () => {
      attempts++
      throw new RangeError('a mistake')
    }), RangeError)
    t.equal(attempts, 1)
  })

  t.test('the pauses double up to a maximum, and random jitter shortens them', async (t) => {
    const { calls, pauses } = make({ maxRetries: 8 })
    t.equal(await calls.call(failing(...Array.from({ length: 8 }, () => failure('unreachable'))).work), 'done')
    t.strictSame(pauses, [125, 250, 500, 1000, 2000, 4000, 4000, 4000])
  })

  t.test('the pause is the one that the endpoint asks for, and a little more', async (t) => {
    const { calls, pauses } = make()
    t.equal(await calls.call(failing(failure('rate_limited', { retryAfterMs: 3000 })).work), 'done')
    t.strictSame(pauses, [3125])
  })

  t.test('a pause that exceeds the remaining time ends the call at once', async (t) => {
    const { calls, pauses } = make({ tools: { timer: () => 0 } })
    const error = failure('rate_limited', { retryAfterMs: 2000 })
    await t.rejects(calls.call(failing(error).work, { timeoutMs: 2000 }), error)
    t.strictSame(pauses, [])
    t.equal(await calls.call(failing(error).work, { timeoutMs: 2200 }), 'done')
  })

  t.test('an endpoint that asks for a pause of more than a minute fails the call', async (t) => {
    const { calls, pauses } = make()
    t.equal(await calls.call(failing(failure('rate_limited', { retryAfterMs: 60_000 })).work), 'done')
    t.equal(await outcome(calls.call(failing(failure('rate_limited', { retryAfterMs: 60_001 })).work)), 'rate_limited')
    t.equal(pauses.length, 1)
  })

  t.test('a caller that leaves ends the pause', async (t) => {
    const leaving = new AbortController()
    const sleep = async (_milliseconds: number, signal: AbortSignal) => {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => { reject(new Error('woken')) })
        leaving.abort(new Error('gone'))
      })
    }
    const failed = failing(failure('unreachable'))
    await t.rejects(make({ tools: { sleep } }).calls.call(failed.work, { signal: leaving.signal }), new Error('gone'))
    t.equal(failed.attempts(), 1)
  })

  t.test('without an injected sleep the pauses use real timers', async (t) => {
    const calls = new ResilientCalls({
      service: 'model',
      maxConcurrency: 1,
      maxWaiting: 0,
      attemptTimeoutMs: 1000,
      maxRetries: 1,
      breaker: { threshold: 9, recoveryMs: 1 },
    })
    const before = performance.now()
    t.equal(await calls.call(failing(failure('rate_limited', { retryAfterMs: 30 })).work), 'done')
    t.ok(performance.now() - before >= 29)
  })
})

t.test('time', async (t) => {
  t.test('an attempt that takes too long is aborted and tried again', async (t) => {
    const { calls } = make({ attemptTimeoutMs: 20, maxRetries: 1 })
    const signals: AbortSignal[] = []
    await t.rejects(calls.call(async (signal) => {
      signals.push(signal)
      return await NEVER
    }), new ModelCallError('timeout', 'The model did not answer within 20 ms'))
    t.strictSame(signals.map(({ aborted }) => aborted), [true, true])
  })

  t.test('an attempt that throws because it is aborted counts as timed out', async (t) => {
    const { calls } = make({ attemptTimeoutMs: 20, maxRetries: 0 })
    const call = calls.call(async (signal) => await new Promise<string>((_resolve, reject) => {
      signal.addEventListener('abort', () => { reject(new Error('aborted')) })
    }))
    t.equal(await outcome(call), 'timeout')
  })

  t.test('the whole call ends within its own time limit', async (t) => {
    const { calls } = make({ tools: { timer: () => 0 } })
    await t.rejects(
      calls.call(async () => await NEVER, { timeoutMs: 20 }),
      new ModelCallError('timeout', 'The model did not answer within 20 ms', { cutShort: true }),
    )
  })

  t.test('a caller that leaves gets its own reason, at once', async (t) => {
    const { calls } = make()
    const leaving = new AbortController()
    const call = calls.call(async () => {
      leaving.abort(new Error('gone'))
      return await NEVER
    }, { signal: leaving.signal })
    await t.rejects(call, new Error('gone'))
  })

  t.test('a call that is already aborted starts nothing', async (t) => {
    const failed = failing()
    await t.rejects(make().calls.call(failed.work, { signal: AbortSignal.abort(new Error('gone')) }), new Error('gone'))
    t.equal(failed.attempts(), 0)
  })
})

t.test('slots', async (t) => {
  t.test('calls beyond the limit wait, in order', async (t) => {
    const { calls } = make({ maxConcurrency: 2 })
    const started: number[] = []
    const gates = Array.from({ length: 4 }, gate)
    const all = gates.map(async ({ opened }, index) => await calls.call(async () => {
      started.push(index)
      await opened
    }))
    await calls.call(async () => {}, { priority: 'interactive' })
    t.strictSame(started, [0, 1])
    gates[1]!.open()
    await all[1]
    gates[0]!.open()
    await all[0]
    gates.forEach(({ open }) => { open() })
    await Promise.all(all)
    t.strictSame(started, [0, 1, 2, 3])
  })

  t.test('interactive calls never wait for background ones', async (t) => {
    const { calls } = make()
    const { opened, open } = gate()
    const background = calls.call(async () => { await opened })
    t.equal(await calls.call(async () => 'asked', { priority: 'interactive' }), 'asked')
    open()
    await background
  })

  t.test('a call is refused at once when the queue is full', async (t) => {
    const { calls } = make({ maxWaiting: 1 })
    const { opened, open } = gate()
    const held = [calls.call(async () => { await opened }), calls.call(async () => { await opened })]
    await t.rejects(calls.call(async () => 'asked'), new ModelCallError(
      'overloaded', 'All 1 calls to the model are under way and 1 wait', { retryAfterMs: 1000 },
    ))
    open()
    await Promise.all(held)
    t.equal(await calls.call(async () => 'asked'), 'asked')
  })

  t.test('a call whose time is up while it waits is refused', async (t) => {
    const { calls } = make()
    const { opened, open } = gate()
    const held = calls.call(async () => { await opened })
    t.equal(await outcome(calls.call(async () => 'asked', { timeoutMs: 20 })), 'overloaded')
    open()
    await held
    t.equal(await calls.call(async () => 'asked'), 'asked')
  })

  t.test('a caller that leaves the queue frees its place, and later ones are served', async (t) => {
    const { calls } = make({ maxWaiting: 2 })
    const { opened, open } = gate()
    const leaving = new AbortController()
    const held = calls.call(async () => { await opened })
    const left = calls.call(async () => 'left', { signal: leaving.signal })
    const behind = calls.call(async () => 'behind')
    leaving.abort(new Error('gone'))
    await t.rejects(left, new Error('gone'))
    const last = calls.call(async () => 'last')
    open()
    t.strictSame(await Promise.all([held, behind, last]), [undefined, 'behind', 'last'])
  })

  t.test('a failed call releases its slot', async (t) => {
    const { calls } = make({ maxWaiting: 0 })
    t.equal(await outcome(calls.call(failing(failure('rejected')).work)), 'rejected')
    t.equal(await calls.call(failing().work), 'done')
  })
})

t.test('closing ends calls in progress or waiting, and refuses new ones', async (t) => {
  const { calls } = make()
  const { opened: started, open: start } = gate()
  const aborted = gate()
  const replies = calls.call(async (signal) => {
    signal.addEventListener('abort', aborted.open)
    start()
    return await NEVER
  })
  const waiting = calls.call(failing().work)
  await started
  calls.close()
  const closed = new ModelCallError('unreachable', 'The model is no longer called: the provider is closed')
  await t.rejects(replies, closed)
  await t.rejects(waiting, closed)
  await t.rejects(calls.call(failing().work), closed)
  await aborted.opened
})
