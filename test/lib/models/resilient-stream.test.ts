import t from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import type { CallOptions, ResilientCalls } from '../../../lib/models/remote/resilient-calls.js'
import { gate } from '../../helpers/waiting.js'
import { failing, failure, make, NEVER, outcome } from './remote-support.js'

const END = 'end'

/** One attempt after the other: each gives its texts and then fails, or goes on for ever with 'hang'. */
function scripted (...attempts: Array<Array<string | Error | 'hang'>>) {
  const signals: AbortSignal[] = []
  let closed = 0
  async function * open (signal: AbortSignal): AsyncGenerator<string> {
    const script = attempts[signals.length] ?? [END]
    signals.push(signal)
    try {
      for (const step of script) {
        if (step instanceof Error) throw step
        if (step === 'hang') {
          await new Promise(
            (_resolve, reject) => { signal.addEventListener('abort', () => { reject(new Error('aborted')) }) },
          )
        }
        yield step
      }
    } finally {
      closed++
    }
  }
  return { open, signals, attempts: () => signals.length, closed: () => closed }
}

const isEnd = (part: string) => part === END

function streamOf (
  calls: ResilientCalls, script: { open: (signal: AbortSignal) => AsyncIterable<string> }, options: CallOptions = {},
) {
  return calls.stream(script.open, isEnd, options)
}

/** What came until the end or the error, and the kind of the error. */
async function readAll (parts: AsyncIterable<string>): Promise<{ got: string[], failed?: string }> {
  const got: string[] = []
  try {
    for await (const part of parts) got.push(part)
    return { got }
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    return { got, failed: error.kind }
  }
}

t.test('an answer arrives part by part', async (t) => {
  const { calls } = make()
  const script = scripted(['one', 'two', END])
  t.strictSame(await readAll(streamOf(calls, script)), { got: ['one', 'two', END] })
  t.equal(script.closed(), 1)
  t.equal(calls.status().running, 0)
})

t.test('no request is sent before the first part is read', async (t) => {
  const { calls } = make()
  const script = scripted([END])
  const parts = streamOf(calls, script)
  t.equal(calls.status().running, 0)
  await parts.return?.()
  t.strictSame(await parts.next(), { done: true, value: undefined })
  t.equal(script.attempts(), 0)
})

t.test('a failure before the first part is retried, with the pauses', async (t) => {
  const { calls, pauses } = make()
  const script = scripted([failure('unreachable')], [failure('rate_limited', { retryAfterMs: 1000 })], ['one', END])
  t.strictSame(await readAll(streamOf(calls, script)), { got: ['one', END] })
  t.strictSame(pauses, [125, 1250])
  t.strictSame(script.signals.map(({ aborted }) => aborted), [true, true, true], 'each attempt is released')
})

t.test('a failure after the first part is not retried', async (t) => {
  const { calls } = make()
  const script = scripted(['one', failure('unreachable')])
  t.strictSame(await readAll(streamOf(calls, script)), { got: ['one'], failed: 'unreachable' })
  t.equal(script.attempts(), 1)
  t.equal(calls.status().running, 0)
})

t.test('an unexpected error is passed on unchanged', async (t) => {
  const { calls } = make()
  await t.rejects(readAll(streamOf(calls, scripted(['one', new RangeError('a mistake')]))), RangeError)
  await t.rejects(readAll(calls.stream(() => { throw new RangeError('a mistake') }, isEnd)), RangeError)
  t.equal(calls.status().running, 0)
})

t.test('the slot is held until the answer ends', async (t) => {
  const { calls } = make()
  const parts = streamOf(calls, scripted(['one', END]))
  await parts.next()
  const { opened: started, open: start } = gate()
  const other = calls.call(async () => { start() })
  t.strictSame([calls.status().running, calls.status().waiting], [1, 1])
  await parts.next()
  t.strictSame(await parts.next(), { done: true, value: undefined })
  await other
  await started
})

t.test('a reader that stops', async (t) => {
  t.test('between two parts ends the work and releases the slot', async (t) => {
    const { calls } = make()
    const script = scripted(['one', 'two', END])
    for await (const part of streamOf(calls, script)) if (part === 'one') break
    t.equal(script.signals[0]!.aborted, true)
    t.equal(script.closed(), 1)
    t.equal(calls.status().running, 0)
  })

  t.test('during the wait for a part ends it at once', async (t) => {
    const { calls } = make()
    const script = scripted(['one', 'hang'])
    const parts = streamOf(calls, script)
    await parts.next()
    const waiting = parts.next()
    await parts.return?.()
    t.strictSame(await waiting, { done: true, value: undefined })
    t.equal(script.signals[0]!.aborted, true)
    t.equal(calls.status().running, 0)
  })

  t.test('during the wait for a slot leaves the queue', async (t) => {
    const { calls } = make()
    const { opened, open } = gate()
    const held = calls.call(async () => { await opened })
    const parts = streamOf(calls, scripted([END]))
    const waiting = parts.next()
    t.equal(calls.status().waiting, 1)
    await parts.return?.()
    t.strictSame(await waiting, { done: true, value: undefined })
    t.equal(calls.status().waiting, 0)
    open()
    await held
  })
})

t.test('a caller that leaves gets its own reason', async (t) => {
  const { calls } = make()
  const leaving = new AbortController()
  const script = scripted(['one', 'hang'])
  const parts = streamOf(calls, script, { signal: leaving.signal })
  await parts.next()
  const waiting = parts.next()
  leaving.abort(new Error('gone'))
  await t.rejects(waiting, new Error('gone'))
  t.equal(script.signals[0]!.aborted, true)
  t.equal(calls.status().running, 0)
})

t.test('closing ends streams in progress', async (t) => {
  const { calls } = make()
  const parts = streamOf(calls, scripted(['one', 'hang']))
  await parts.next()
  const waiting = parts.next()
  calls.close()
  await t.rejects(waiting, new ModelCallError('unreachable', 'The model is no longer called: the provider is closed'))
})

t.test('time', async (t) => {
  t.test('a pause that is longer than an attempt may take ends the answer', async (t) => {
    const { calls } = make({ attemptTimeoutMs: 20 })
    t.strictSame(await readAll(streamOf(calls, scripted(['one', 'hang']))), { got: ['one'], failed: 'timeout' })
  })

  t.test('a first part that does not arrive is retried', async (t) => {
    const { calls } = make({ attemptTimeoutMs: 20, maxRetries: 1 })
    const script = scripted(['hang'], ['hang'])
    t.strictSame(await readAll(streamOf(calls, script)), { got: [], failed: 'timeout' })
    t.equal(script.attempts(), 2)
  })

  t.test('the time of the request bounds the pause as well', async (t) => {
    const { calls } = make({ tools: { timer: () => 0 } })
    const parts = streamOf(calls, scripted(['one', 'hang']), { timeoutMs: 20 })
    t.strictSame(await parts.next(), { done: false, value: 'one' })
    await t.rejects(parts.next(), new ModelCallError(
      'timeout', 'The model did not answer within 20 ms', { cutShort: true },
    ))
  })

  t.test('a reader that does not return loses its slot when the time of the request is over', async (t) => {
    const { calls } = make({ tools: { timer: () => 0 } })
    const script = scripted(['one', 'two', END])
    const parts = streamOf(calls, script, { timeoutMs: 20 })
    await parts.next()
    t.equal(await calls.call(failing().work), 'done')
    t.equal(script.signals[0]!.aborted, true)
    t.strictSame(await readAll(parts), { got: [], failed: 'timeout' })
  })

  t.test('a reader may pause as long as it likes when the request has no deadline', async (t) => {
    const { calls } = make({ attemptTimeoutMs: 10 })
    const parts = streamOf(calls, scripted(['one', END]))
    await parts.next()
    await new Promise((resolve) => { setTimeout(resolve, 30) })
    t.strictSame(await readAll(parts), { got: [END] })
  })
})

t.test('the circuit', async (t) => {
  const options = { breaker: { threshold: 2, recoveryMs: 1000 }, maxRetries: 0 }

  t.test('opens when answers break off, although each began successfully', async (t) => {
    const { calls } = make(options)
    const script = scripted(['one', failure('unreachable')], ['one', failure('unreachable')])
    for (let call = 0; call < 2; call++) t.equal((await readAll(streamOf(calls, script))).failed, 'unreachable')
    t.strictSame(await readAll(streamOf(calls, script)), { got: [], failed: 'circuit_open' })
    t.equal(script.attempts(), 2)
  })

  t.test('is closed by a trial whose reader stops after the last part', async (t) => {
    let now = 0
    const { calls } = make({ ...options, tools: { timer: () => now } })
    for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unreachable')).work))
    now += 1000
    for await (const part of streamOf(calls, scripted(['one', END, 'hang']))) if (part === END) break
    t.equal(calls.status().breaker.state, 'closed')
  })

  t.test('does not change when the reader stops before the last part', async (t) => {
    let now = 0
    const { calls } = make({ ...options, tools: { timer: () => now } })
    for (let call = 0; call < 2; call++) await outcome(calls.call(failing(failure('unreachable')).work))
    now += 1000
    for await (const part of streamOf(calls, scripted(['one', 'two', END]))) if (part === 'one') break
    t.equal(calls.status().breaker.state, 'half_open')
    t.equal(await outcome(calls.call(failing().work)), 'done')
  })
})

t.test('an attempt whose end hangs does not delay the next one', async (t) => {
  const { calls } = make()
  const parts = calls.stream<string>(
    () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 'one' }), return: async () => await NEVER,
      }),
    }),
    isEnd,
  )
  await parts.next()
  await parts.return?.()
  t.equal(calls.status().running, 0)
})
