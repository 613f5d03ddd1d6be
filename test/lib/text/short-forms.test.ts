import t from 'tap'
import { otherForms } from '../../../lib/text/alternative-terms.js'
import { stem } from '../../../lib/text/words.js'

t.test('a word has the other forms of its group, and each of them has it', async (t) => {
  for (const [one, ...others] of [['puppy', 'pup'], ['favorite', 'favourite', 'fave'], ['colour', 'color'],
    ['maths', 'mathematics'], ['lay', 'laid']]) {
    t.strictSame(otherForms(stem(one!)), others.map(stem))
    for (const other of others) t.ok(otherForms(stem(other)).includes(stem(one!)), other)
  }
})

t.test('an inflected word has them too, and any other word has none', async (t) => {
  t.strictSame(otherForms(stem('universities')), [stem('uni')])
  t.strictSame(otherForms(stem('organised')), [stem('organize')])
  for (const word of ['mill', 'child', 'doc', '', 'constructor', '__proto__']) t.strictSame(otherForms(word), [], word)
})
