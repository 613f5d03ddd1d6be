import t from 'tap'
import { strictAjv } from '../../../lib/base/schema-check.js'

const validate = strictAjv().compile({ type: 'string', minLength: 1, maxLength: 4, pattern: '^[^0]*$' })

function failing (text: string): string[] {
  validate(text)
  return (validate.errors ?? []).map(({ keyword }) => keyword)
}

t.test('a length is counted in code points', async (t) => {
  t.same(failing('😀'.repeat(4)), [])
  t.same(failing('😀'.repeat(5)), ['maxLength'])
  t.same(failing('abcd'), [])
  t.same(failing('abcde'), ['maxLength'])
  t.same(failing(''), ['minLength'])
})

t.test('a pattern is matched for a text whose length is allowed', async (t) => {
  t.same(failing('0'), ['pattern'])
  t.same(failing('😀😀😀0'), ['pattern'])
})

t.test('a text that is more than twice as long as allowed is not matched', async (t) => {
  t.same(failing('000000000'), ['maxLength'])
  t.same(failing('0'.repeat(1_000_000)), ['maxLength'])
})

t.test('without a maximum every text is matched', async (t) => {
  const unbounded = strictAjv().compile({ type: 'string', pattern: '^[^0]*$' })
  t.notOk(unbounded(`${'x'.repeat(1_000_000)}0`))
  t.ok(unbounded('x'.repeat(1_000_000)))
})
