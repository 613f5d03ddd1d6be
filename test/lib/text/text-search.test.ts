import assert from 'node:assert/strict'
import t from 'tap'
import { searchFor } from '../../../lib/text/text-search.js'
import fc from '../../helpers/fast-check.js'

t.test('a text is found where it is a part of another one', async () => {
  const texts = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength })
  fc.assert(fc.property(texts(300), texts(150), texts(150), texts(6), (wanted, before, after, other) => {
    const find = searchFor(wanted)
    for (const text of [before + wanted + after, before + other + after, (before + other).repeat(9), wanted]) {
      assert.equal(find(text), text.includes(wanted), JSON.stringify([wanted, text]))
    }
  }))
})

t.test('every unit of a text that repeats itself is compared a few times at most', async (t) => {
  // One comparison after the other it would take ten minutes.
  const half = 'a'.repeat(400_000)
  t.equal(searchFor(`${half}b${half}`)('a'.repeat(5_000_000)), false)
  t.equal(searchFor(`${half}b${half}`)(`${half}a${half}b${half}a`), true)
})
