import t from 'tap'
import { normalForm } from '../../../lib/text/normal-form.js'
import fc from '../../helpers/fast-check.js'

const MARKS = ['\u0301', '\u0323', '\u0338', '\u0307']

t.test('an ordinary text has the usual normal forms', async (t) => {
  fc.assert(fc.property(
    fc.string({ unit: 'grapheme' }), fc.constantFrom('NFC', 'NFKC', 'NFKD'),
    (text, form) => /\p{M}{30}/u.test(text) || normalForm(text, form) === text.normalize(form),
  ))
  t.equal(normalForm('Cafe\u0301 ﬁ', 'NFC'), 'Café ﬁ')
  t.equal(normalForm('Cafe\u0301 ﬁ', 'NFKC'), 'Café fi')
})

t.test('at most thirty combining marks in a row are ordered together, and none is lost', async (t) => {
  const piled = `a${Array.from({ length: 1000 }, (_, index) => MARKS[index % MARKS.length]).join('')}b`
  const normal = normalForm(piled, 'NFKD')
  for (const run of normal.split('\u034f')) t.ok((run.match(/\p{M}/gu)?.length ?? 0) <= 31)
  const count = (text: string, mark: string) => text.split(mark).length
  for (const mark of MARKS) t.equal(count(normal, mark), count(piled, mark))
})

t.test('marks that are letters before they are decomposed are marks too', async (t) => {
  const piled = '\uff9e\u0301'.repeat(400_000)
  t.ok(normalForm(piled, 'NFKC').startsWith('\u3099'))
})
