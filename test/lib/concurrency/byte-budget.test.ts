import t from 'tap'
import { ByteBudget } from '../../../lib/concurrency/byte-budget.js'
import { ServiceError } from '../../../lib/errors/service-error.js'

t.test('bytes beyond the budget are refused with Retry-After, and those that are held stay', async (t) => {
  const budget = new ByteBudget(100)
  const first = budget.hold(60)
  t.throws(() => budget.hold(41), { code: 'server_busy', retryAfterSeconds: 1 })
  t.throws(() => { first.grow(41) }, ServiceError)
  t.equal(budget.held, 60)
  first.grow(40)
  t.equal(budget.held, 100)
  t.throws(() => budget.hold(1), ServiceError)
})

t.test('a hold returns all its bytes, and only once', async (t) => {
  const budget = new ByteBudget(100)
  const [first, second] = [budget.hold(10), budget.hold(20)]
  first.grow(5)
  first.release()
  first.release()
  t.equal(budget.held, 20)
  second.release()
  t.equal(budget.held, 0)
})
