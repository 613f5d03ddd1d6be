import assert from 'node:assert/strict'
import t from 'tap'
import { placeIn, SortedList } from '../../../../lib/stores/in-memory/sorted-list.js'
import fc from '../../../helpers/fast-check.js'

await t.test('a sorted list behaves like an array that is sorted after each change, and snapshots stay', async (t) => {
  const numbers = fc.array(fc.nat(50), { maxLength: 12 })
  const step = fc.record({ add: numbers, remove: numbers })
  fc.assert(fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
    const list = new SortedList<{ n: number, id: number }>((a, b) => a.n - b.n || a.id - b.id)
    let plain: Array<{ n: number, id: number }> = []
    let id = 0
    for (const { add, remove } of steps) {
      const [snapshot, before] = [list.snapshot(), [...plain]]
      for (const n of add) {
        const item = { n, id: id++ }
        plain.push(item)
        plain.sort((a, b) => a.n - b.n || a.id - b.id)
        assert.equal(list.add(item), plain.indexOf(item))
      }
      const gone = remove.flatMap((at) => plain[at] ?? [])
      // A second time, and with an item that only looks like one of the list.
      list.remove([...gone, ...gone.map((item) => ({ ...item }))])
      list.remove(gone.slice(0, 2))
      plain = plain.filter((item) => !gone.includes(item))
      assert.deepEqual(list.items, plain)
      assert.deepEqual(snapshot, before)
      assert.equal(placeIn(list.items, ({ n }) => n < 25), plain.filter(({ n }) => n < 25).length)
    }
  }))
  t.pass()
})
