import fc from 'fast-check'
import t from 'tap'
import { ByteBudget, type ByteReservation } from '../../../lib/concurrency/byte-budget.js'
import { callerLimit } from '../../../lib/concurrency/shared-limit.js'
import { ServiceError } from '../../../lib/errors/service-error.js'

const ANN = 'user:ann'
const BOB = 'user:bob'

t.test('bytes beyond the share of a caller are refused with Retry-After, and those that are held remain', async (t) => {
  const budget = new ByteBudget(100)
  const first = budget.reserve(60, ANN)
  t.equal(first.bytes, 60)
  t.ok(budget.fits(15, ANN))
  t.notOk(budget.fits(16, ANN))
  t.throws(() => budget.reserve(16, ANN), { code: 'server_busy', retryAfterSeconds: 1 })
  t.throws(() => { first.grow(16) }, ServiceError)
  t.equal(budget.reservedBytes, 60)
  first.grow(15)
  t.equal(budget.reservedBytes, 75)
  t.throws(() => budget.reserve(1, ANN), ServiceError)
})

t.test('what one caller leaves free is for others, three quarters of it for the next one', async (t) => {
  const budget = new ByteBudget(160)
  budget.reserve(120, ANN)
  t.throws(() => budget.reserve(31, BOB), ServiceError)
  budget.reserve(30, BOB)
  t.throws(() => budget.reserve(9, 'user:cy'), ServiceError)
  budget.reserve(8, 'user:cy')
  t.equal(budget.reservedBytes, 158)
})

t.test('a reservation returns all its bytes, and only once', async (t) => {
  const budget = new ByteBudget(100)
  const [first, second] = [budget.reserve(10, ANN), budget.reserve(20, ANN)]
  first.grow(5)
  first.release()
  first.release()
  t.equal(first.bytes, 0)
  t.equal(budget.reservedBytes, 20)
  second.release()
  t.equal(budget.reservedBytes, 0)
  t.equal(budget.reserve(75, ANN).bytes, 75, 'nothing counts for the caller any more')
})

t.test('whatever callers reserve and release, the limits hold, and a caller without bytes has room', async () => {
  const steps = fc.array(fc.record({
    caller: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 500 }), releases: fc.boolean(),
  }), { maxLength: 60 })
  fc.assert(fc.property(steps, (steps) => {
    const budget = new ByteBudget(1000)
    const open: Array<{ caller: string, reservation: ByteReservation }> = []
    for (const { caller, bytes, releases } of steps) {
      if (releases) open.shift()?.reservation.release()
      const fits = budget.fits(bytes, caller)
      try {
        open.push({ caller, reservation: budget.reserve(bytes, caller) })
        if (!fits) return false
      } catch {
        if (fits) return false
      }
      const held = (of: string) => open.filter(({ caller }) => caller === of)
        .reduce((sum, { reservation }) => sum + reservation.bytes, 0)
      const all = held('a') + held('b') + held('c')
      if (all !== budget.reservedBytes || all >= 1000) return false
      if (!budget.fits(1, 'new')) return false
      if (held(caller) > callerLimit(1000, 0)) return false
    }
    return true
  }))
})
