import t from 'tap'
import { beginningOf, shorten } from '../../../lib/base/shorten.js'

t.test('the beginning of a text ends between characters', async (t) => {
  t.equal(beginningOf('ab🎉c', 5), 'ab🎉c')
  t.equal(beginningOf('ab🎉c', 4), 'ab🎉')
  t.equal(beginningOf('ab🎉c', 3), 'ab')
  t.equal(beginningOf('ab🎉c', 2), 'ab')
  t.equal(beginningOf('ab', 9), 'ab')
  t.equal(beginningOf('', 1), '')
  t.equal(beginningOf('🎉', 0), '')
})

t.test('a text that is too long is shortened with an ellipsis', async (t) => {
  t.equal(shorten('ab🎉', 4), 'ab🎉')
  t.equal(shorten('ab🎉c', 4), 'ab🎉…')
  t.equal(shorten('ab🎉c', 3), 'ab…')
})
