import t from 'tap'
import { ByteBudget } from '../../../lib/concurrency/byte-budget.js'
import { ServiceError } from '../../../lib/errors/service-error.js'

t.test('bytes beyond the budget are refused with Retry-After, and those that are held remain', async (t) => {
  const budget = new ByteBudget(100)
  const first = budget.reserve(60)
  t.throws(() => budget.reserve(41), { code: 'server_busy', retryAfterSeconds: 1 })
  t.throws(() => { first.grow(41) }, ServiceError)
  t.equal(budget.reservedBytes, 60)
  first.grow(40)
  t.equal(budget.reservedBytes, 100)
  t.throws(() => budget.reserve(1), ServiceError)
})

t.test('a hold returns all its bytes, and only once', async (t) => {
  const budget = new ByteBudget(100)
  const [first, second] = [budget.reserve(10), budget.reserve(20)]
  first.grow(5)
  first.release()
  first.release()
  t.equal(budget.reservedBytes, 20)
  second.release()
  t.equal(budget.reservedBytes, 0)
})
