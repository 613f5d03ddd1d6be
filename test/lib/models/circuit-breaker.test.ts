import assert from 'node:assert/strict'
import t from 'tap'
import { CircuitBreaker, type Settle, type Verdict } from '../../../lib/models/remote/circuit-breaker.js'
import { TenantBreakers } from '../../../lib/models/remote/tenant-breakers.js'
import fc, { runs } from '../../helpers/fast-check.js'

const THRESHOLD = 3
const RECOVERY_MS = 10
const TRIALS = 2

type Step = { do: 'enter' } | { do: 'settle', which: number, verdict: Verdict } | { do: 'wait', milliseconds: number }

const steps = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: 'enter' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(), verdict: fc.constantFrom<Verdict[]>('good', 'fault', 'nothing') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), milliseconds: fc.constantFrom(1, RECOVERY_MS - 1, RECOVERY_MS) }) },
), { maxLength: 60 })

/** What a breaker has to be, said in another way: as a list of what happened since the state last changed. */
class Model {
  state: 'closed' | 'open' | 'half_open' = 'closed'
  now = 0
  #changedAt = 0
  #verdicts: Verdict[] = []
  #replies = new Set<symbol>()

  get admits (): boolean {
    if (this.state === 'open' && this.now >= this.#changedAt + RECOVERY_MS) this.#become('half_open')
    return this.state === 'closed' || (this.state === 'half_open' && this.#replies.size < TRIALS)
  }

  enter (): symbol {
    const call = Symbol('call')
    this.#replies.add(call)
    return call
  }

  settle (call: symbol, verdict: Verdict): void {
    if (!this.#replies.delete(call) || verdict === 'nothing') return
    this.#verdicts.push(verdict)
    const last = this.#verdicts.slice(-THRESHOLD)
    if (this.state === 'half_open') this.#become(verdict === 'good' ? 'closed' : 'open')
    else if (last.length === THRESHOLD && last.every((one) => one === 'fault')) this.#become('open')
  }

  #become (state: Model['state']): void {
    this.state = state
    this.#changedAt = this.now
    this.#verdicts = []
    this.#replies.clear()
  }
}

t.test('whatever happens, a breaker admits and refuses as its rules say', async () => {
  fc.assert(fc.property(steps, (steps) => {
    const model = new Model()
    const breaker = new CircuitBreaker({ threshold: THRESHOLD, recoveryMs: RECOVERY_MS, halfOpenCalls: TRIALS }, () => model.now)
    const calls: Array<[symbol, Settle]> = []
    for (const step of steps satisfies Step[]) {
      if (step.do === 'wait') model.now += step.milliseconds
      else if (step.do === 'enter') {
        const admits = model.admits
        const settle = breaker.enter()
        assert.equal(settle !== undefined, admits)
        if (settle !== undefined) calls.push([model.enter(), settle])
      } else if (calls.length > 0) {
        // A call may be settled again: only the first word counts.
        const [call, settle] = calls[step.which % calls.length]!
        model.settle(call, step.verdict)
        settle(step.verdict)
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

t.test('the wait is that for the next trial', async (t) => {
  const { timer, advance } = clock()
  const breaker = new CircuitBreaker({ threshold: 1, recoveryMs: 5000 }, timer)
  t.equal(breaker.waitMs, 0)
  breaker.enter()!('fault')
  t.equal(breaker.waitMs, 5000)
  advance(4999)
  t.equal(breaker.waitMs, 1)
  advance(1)
  t.equal(breaker.waitMs, 0)
  breaker.enter()
  t.equal(breaker.waitMs, 1000, 'a trial is under way')
})

t.test('a call that began before the circuit opened has no say in the trials', async (t) => {
  const { timer, advance } = clock()
  const breaker = new CircuitBreaker({ threshold: 1, recoveryMs: 1000 }, timer)
  const [early, late] = [breaker.enter()!, breaker.enter()!]
  breaker.enter()!('fault')
  early('good')
  t.equal(breaker.state, 'open')
  advance(1000)
  t.equal(breaker.state, 'half_open')
  late('fault')
  t.equal(breaker.state, 'half_open')
})

t.test('tenants', async (t) => {
  const options = { threshold: 2, recoveryMs: 1000 }

  t.test('a tenant without trouble is forgotten when its calls are over', async (t) => {
    const tenants = new TenantBreakers(options, () => 0)
    const [first, second] = [tenants.enter('a')!, tenants.enter('a')!]
    t.equal(tenants.size, 1)
    first('good')
    t.equal(tenants.size, 1)
    second('nothing')
    t.equal(tenants.size, 0)
  })

  t.test('one with faults is remembered until a good call', async (t) => {
    const tenants = new TenantBreakers(options, () => 0)
    tenants.enter('a')!('fault')
    t.equal(tenants.size, 1)
    tenants.enter('a')!('good')
    t.equal(tenants.size, 0)
  })

  t.test('faults of calls that overlap with good ones are all counted', async (t) => {
    const tenants = new TenantBreakers(options, () => 0)
    const calls = [1, 2, 3].map(() => tenants.enter('a')!)
    calls[0]!('good')
    calls[1]!('fault')
    calls[2]!('fault')
    t.equal(tenants.enter('a'), undefined)
    t.equal(tenants.notClosed, 1)
    t.equal(tenants.waitMs('a'), 1000)
    t.equal(tenants.waitMs('b'), 0)
  })

  t.test('the one that was not heard of for longest is forgotten first', async (t) => {
    const tenants = new TenantBreakers({ ...options, threshold: 1 }, () => 0, 2)
    for (const tenant of ['a', 'b', 'c']) tenants.enter(tenant)!('fault')
    t.equal(tenants.size, 2)
    t.equal(tenants.waitMs('a'), 0)
    t.equal(tenants.waitMs('b'), 1000)
  })
})
