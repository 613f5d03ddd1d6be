import assert from 'node:assert/strict'
import t from 'tap'
import {
  CircuitBreaker, KeyedCircuitBreakers, type ReportOutcome, type BreakerOutcome,
} from '../../../lib/base/circuit-breaker.js'
import fc, { runs } from '../../helpers/fast-check.js'

const THRESHOLD = 3
const RECOVERY_MS = 10
const TRIALS = 2

type Step =
  | { do: 'enter' }
  | { do: 'settle', which: number, outcome: BreakerOutcome }
  | { do: 'wait', milliseconds: number }

const steps = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: 'enter' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat(),
      outcome: fc.constantFrom<BreakerOutcome[]>('success', 'failure', 'ignored'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const), milliseconds: fc.constantFrom(1, RECOVERY_MS - 1, RECOVERY_MS),
    }),
  },
), { maxLength: 60 })

/** A model of the breaker: a list of the events since the last change of state. */
class Model {
  state: 'closed' | 'open' | 'half_open' = 'closed'
  now = 0
  #changedAt = 0
  #outcomes: BreakerOutcome[] = []
  #underWay = new Set<symbol>()

  get admits (): boolean {
    if (this.state === 'open' && this.now >= this.#changedAt + RECOVERY_MS) this.#become('half_open')
    return this.state === 'closed' || (this.state === 'half_open' && this.#underWay.size < TRIALS)
  }

  enter (): symbol {
    const call = Symbol('call')
    this.#underWay.add(call)
    return call
  }

  settle (call: symbol, outcome: BreakerOutcome): void {
    if (!this.#underWay.delete(call) || outcome === 'ignored') return
    this.#outcomes.push(outcome)
    const last = this.#outcomes.slice(-THRESHOLD)
    if (this.state === 'half_open') this.#become(outcome === 'success' ? 'closed' : 'open')
    else if (last.length === THRESHOLD && last.every((one) => one === 'failure')) this.#become('open')
  }

  #become (state: Model['state']): void {
    this.state = state
    this.#changedAt = this.now
    this.#outcomes = []
    this.#underWay.clear()
  }
}

t.test('a breaker agrees with a model of its rules for any sequence of events', async () => {
  fc.assert(fc.property(steps, (steps) => {
    const model = new Model()
    const breaker =
      new CircuitBreaker({ threshold: THRESHOLD, recoveryMs: RECOVERY_MS, halfOpenCalls: TRIALS }, () => model.now)
    const calls: Array<[symbol, ReportOutcome]> = []
    for (const step of steps satisfies Step[]) {
      if (step.do === 'wait') model.now += step.milliseconds
      else if (step.do === 'enter') {
        const admits = model.admits
        const settle = breaker.tryAcquire()
        assert.equal(settle !== undefined, admits)
        if (settle !== undefined) calls.push([model.enter(), settle])
      } else if (calls.length > 0) {
        // A call may be settled again, but only the first result counts.
        const [call, settle] = calls[step.which % calls.length]!
        model.settle(call, step.outcome)
        settle(step.outcome)
      }
      const { admits } = model
      assert.equal(breaker.state, model.state)
      assert.equal(breaker.waitMs === 0, admits)
    }
  }), { numRuns: runs(500, 5000) })
})

function clock (): { timer: () => number, advance: (milliseconds: number) => void } {
  let now = 0
  return { timer: () => now, advance: (milliseconds) => { now += milliseconds } }
}

t.test('waitMs is the time until the next trial', async (t) => {
  const { timer, advance } = clock()
  const breaker = new CircuitBreaker({ threshold: 1, recoveryMs: 5000 }, timer)
  t.equal(breaker.waitMs, 0)
  breaker.tryAcquire()!('failure')
  t.equal(breaker.waitMs, 5000)
  advance(4999)
  t.equal(breaker.waitMs, 1)
  advance(1)
  t.equal(breaker.waitMs, 0)
  breaker.tryAcquire()
  t.equal(breaker.waitMs, 1000, 'a trial is under way')
})

t.test('the outcome of a call that began before the circuit opened does not count as a trial', async (t) => {
  const { timer, advance } = clock()
  const breaker = new CircuitBreaker({ threshold: 1, recoveryMs: 1000 }, timer)
  const [early, late] = [breaker.tryAcquire()!, breaker.tryAcquire()!]
  breaker.tryAcquire()!('failure')
  early('success')
  t.equal(breaker.state, 'open')
  advance(1000)
  t.equal(breaker.state, 'half_open')
  late('failure')
  t.equal(breaker.state, 'half_open')
})

t.test('circuit breakers by key', async (t) => {
  const options = { threshold: 2, recoveryMs: 1000 }

  t.test('a key without failures is forgotten when its calls have ended', async (t) => {
    const breakers = new KeyedCircuitBreakers(options, () => 0)
    const [first, second] = [breakers.tryAcquire('a')!, breakers.tryAcquire('a')!]
    t.equal(breakers.size, 1)
    first('success')
    t.equal(breakers.size, 1)
    second('ignored')
    t.equal(breakers.size, 0)
  })

  t.test('a key with failures is remembered until a call succeeds', async (t) => {
    const breakers = new KeyedCircuitBreakers(options, () => 0)
    breakers.tryAcquire('a')!('failure')
    t.equal(breakers.size, 1)
    breakers.tryAcquire('a')!('success')
    t.equal(breakers.size, 0)
  })

  t.test('failures of calls that overlap with others are all counted', async (t) => {
    const breakers = new KeyedCircuitBreakers(options, () => 0)
    const calls = [1, 2, 3].map(() => breakers.tryAcquire('a')!)
    calls[0]!('success')
    calls[1]!('failure')
    calls[2]!('failure')
    t.equal(breakers.tryAcquire('a'), undefined)
    t.equal(breakers.notClosed, 1)
    t.equal(breakers.waitMs('a'), 1000)
    t.equal(breakers.waitMs('b'), 0)
  })

  t.test('the least recently used key is evicted first', async (t) => {
    const breakers = new KeyedCircuitBreakers({ ...options, threshold: 1 }, () => 0, 2)
    for (const key of ['a', 'b', 'c']) breakers.tryAcquire(key)!('failure')
    t.equal(breakers.size, 2)
    t.equal(breakers.waitMs('a'), 0)
    t.equal(breakers.waitMs('b'), 1000)
  })
})
