import t from 'tap'
import { Slots } from '../../../../lib/stores/sql/slots.js'

await t.test('slots say how many there are, how many are taken and how many callers wait', async (t) => {
  const slots = new Slots({ slots: 2, maxWaiting: 5, waitMs: 60_000 })
  t.same(slots.status, { size: 2, inUse: 0, waiting: 0 })
  const [first] = [await slots.take(), await slots.take()]
  const third = slots.take()
  t.same(slots.status, { size: 2, inUse: 2, waiting: 1 })
  first()
  const release = await third
  t.same(slots.status, { size: 2, inUse: 2, waiting: 0 })
  release()
  t.same(slots.status, { size: 2, inUse: 1, waiting: 0 })
})
