import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { isUuid, isUuidV7, uuidv7Source } from '../../../lib/base/ids.js'
import { testClock } from '../../helpers/clock.js'

/** The first 48 bits of a UUIDv7: milliseconds since the epoch. */
function timeOf (id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

t.test('an id is a UUIDv7 that carries the time of the clock', async (t) => {
  const clock = testClock()
  const newId = uuidv7Source(clock)
  for (const advance of [0, 1, 86_400_000]) {
    clock.advance(advance)
    const id = newId()
    t.ok(isUuidV7(id), id)
    t.equal(id, id.toLowerCase())
    t.equal(timeOf(id), clock())
  }
})

t.test('ids increase also within a millisecond, and none occurs twice', async (t) => {
  const newId = uuidv7Source(testClock())
  const ids = Array.from({ length: 20_000 }, newId)
  t.equal(new Set(ids).size, ids.length)
  t.ok(ids.every((id, index) => index === 0 || ids[index - 1]! < id))
})

t.test('ids never decrease, however the clock is set', async () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -100_000, max: 100_000 }), { maxLength: 50 }), (steps) => {
    const clock = testClock()
    const newId = uuidv7Source(clock)
    let last = newId()
    for (const step of steps) {
      clock.advance(step)
      const id = newId()
      if (!(last < id)) throw new Error(`${id} after ${last}, ${step} ms later`)
      last = id
    }
  }))
})

t.test('two sources with one clock do not create the same ids', async (t) => {
  const clock = testClock()
  const [one, other] = [uuidv7Source(clock), uuidv7Source(clock)]
  t.equal(new Set(Array.from({ length: 1000 }, () => [one(), other()]).flat()).size, 2000)
})

t.test('isUuid and isUuidV7 accept whole ids in either case, and nothing else', async (t) => {
  const id = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
  const v4 = '5f0c6f0e-7b3c-4a10-8d2f-4b1f2c3d4e5f'
  for (const text of [id, id.toUpperCase(), v4]) t.ok(isUuid(text), text)
  for (const text of [id, id.toUpperCase()]) t.ok(isUuidV7(text), text)
  for (const text of [v4, '01936f0e-7b3c-7a10-0d2f-4b1f2c3d4e5f']) t.notOk(isUuidV7(text), text)
  for (const text of [
    '', id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, `{${id}}`, id.replaceAll('-', ''), id.replace('f', 'g'),
    `urn:uuid:${id}`,
  ]) {
    t.notOk(isUuid(text), text)
    t.notOk(isUuidV7(text), text)
  }
})
