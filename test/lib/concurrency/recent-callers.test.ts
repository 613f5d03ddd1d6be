import t from 'tap'
import { RecentCallers } from '../../../lib/concurrency/recent-callers.js'
import fc from '../../helpers/fast-check.js'

t.test('a caller is alone until work of another one begins', async (t) => {
  const callers = new RecentCallers()
  t.notOk(callers.hasOthersSince(['ada'], 0))
  callers.note(['ada', 'one'], 5)
  callers.note(['ada', 'two'], 6)
  t.notOk(callers.hasOthersSince(['ada', 'three'], 0))
  t.ok(callers.hasOthersSince(['bob'], 6))
  t.notOk(callers.hasOthersSince(['bob'], 7))
  callers.note(['bob'], 9)
  callers.note(['ada'], 10)
  t.ok(callers.hasOthersSince(['ada'], 9))
  t.notOk(callers.hasOthersSince(['ada'], 9.5))
})

t.test('it answers as a list of all that began', async (t) => {
  const name = fc.constantFrom('ada', 'bob', 'cy')
  t.doesNotThrow(() => fc.assert(fc.property(fc.array(name), name, fc.nat(20), (names, caller, since) => {
    const callers = new RecentCallers()
    for (const [now, begun] of names.entries()) callers.note([begun], now)
    const expected = names.some((begun, now) => begun !== caller && now >= since)
    return callers.hasOthersSince([caller], since) === expected
  })))
})
