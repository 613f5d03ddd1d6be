import t from 'tap'
import { valueAt } from '../../console/src/text/value-at.js'

t.test('a value is found by its path, also where names contain dots', async (t) => {
  const value = { a: { b: 1, 'b.c': [2] }, 'a.d': { e: null } }
  t.equal(valueAt(value, 'a.b'), 1)
  t.same(valueAt(value, 'a.b.c'), [2])
  t.equal(valueAt(value, 'a.d.e'), null)
  t.equal(valueAt(value, 'a.x'), undefined)
  t.equal(valueAt(value, 'constructor'), undefined)
})
