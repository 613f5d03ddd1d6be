import fc from 'fast-check'
import t from 'tap'
import { RowHeights } from '../../console/src/components/row-heights.js'

t.test('positions are the sums of the heights, whichever rows are measured', async () => {
  const change = fc.tuple(fc.nat(49), fc.integer({ min: 1, max: 200 }))
  fc.assert(fc.property(fc.array(change), fc.nat(12_000), (changes, offset) => {
    const rows = new RowHeights(50, 40)
    const expected = Array.from({ length: 50 }, () => 40)
    for (const [index, height] of changes) {
      if (rows.set(index, height) !== height - expected[index]!) return false
      expected[index] = height
    }
    let sum = 0
    let found = 0
    for (const [index, height] of expected.entries()) {
      if (rows.offsetOf(index) !== sum) return false
      if (sum <= offset) found = index
      sum += height
    }
    return rows.total === sum && rows.indexAt(offset) === found
  }))
})

t.test('an empty list has no height, and rows behind the end are ignored', async (t) => {
  const none = new RowHeights(0, 40)
  t.equal(none.total, 0)
  t.equal(none.indexAt(100), 0)
  t.equal(none.set(0, 30), 0)
  t.equal(none.total, 0)
})
