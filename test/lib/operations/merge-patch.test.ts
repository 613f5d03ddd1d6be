import t from 'tap'
import { mergePatch } from '../../../lib/operations/bank-configurations.js'

/** RFC 7396, appendix A. */
const EXAMPLES: ReadonlyArray<readonly [target: unknown, patch: unknown, result: unknown]> = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [['a', 'b'], ['c', 'd'], ['c', 'd']],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

t.test('the examples of RFC 7396 give the documented results, and neither argument is modified', async (t) => {
  for (const [target, patch, result] of EXAMPLES) {
    const before = JSON.stringify([target, patch])
    t.strictSame(mergePatch(target, patch), result, before)
    t.equal(JSON.stringify([target, patch]), before)
  }
})

t.test('a member with the name __proto__ is a member like any other', async (t) => {
  const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": 1}}')) as Record<string, unknown>
  t.ok(Object.hasOwn(merged, '__proto__'))
  t.equal(merged['polluted'], undefined)
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('sixteen levels are merged and seventeen are refused', async (t) => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as unknown
  t.strictSame(mergePatch({}, nested(16)), nested(16))
  t.throws(() => mergePatch({}, nested(17)), { code: 'invalid_request' })
})

await t.test('removing a member that neither the target nor the schema has is refused', async (t) => {
  const schema = { properties: { homeostasis: { properties: { recall_max_tokens: {} } }, weights: {} } }
  const merge = (target: unknown, patch: unknown) => mergePatch(target, patch, schema)
  t.throws(() => merge({}, { homestasis: null }), {
    code: 'invalid_request', message: 'homestasis: is not a known field; did you mean "homeostasis"?',
  })
  t.throws(() => merge({}, { homeostasis: { nope: null } }), { message: 'homeostasis.nope: is not a known field' })
  const long = 'x'.repeat(10_000)
  t.throws(() => merge({}, { homeostasis: { [long]: null } }), { message: /^homeostasis\.x{50,200}…: is not/ })
  const known = { homeostasis: { recall_max_tokens: null }, weights: { any: null } }
  t.strictSame(merge({}, known), { homeostasis: {}, weights: {} })
  t.strictSame(merge({ old: 1 }, { old: null }), {}, 'an existing member may be removed')
})
