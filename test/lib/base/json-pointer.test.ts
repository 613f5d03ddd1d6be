import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { resolvePointer } from '../../../lib/base/json-object.js'

// The document and the pointers of RFC 6901, section 5.
const DOCUMENT: unknown = JSON.parse('{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, ' +
  '"i\\\\j": 5, "k\\"l": 6, " ": 7, "m~n": 8}')
const EXAMPLES: Array<[pointer: string, value: unknown]> = [
  ['', DOCUMENT], ['/foo', ['bar', 'baz']], ['/foo/0', 'bar'], ['/', 0], ['/a~1b', 1], ['/c%d', 2], ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5], ['/k"l', 6], ['/ ', 7], ['/m~0n', 8],
]

t.test('the examples of RFC 6901 resolve', async (t) => {
  for (const [pointer, value] of EXAMPLES) t.strictSame(resolvePointer(DOCUMENT, pointer), value, pointer)
})

t.test('a missing value is undefined', async (t) => {
  for (const pointer of [
    '/bar', '/foo/2', '/foo/-', '/foo/01', '/foo/bar', '/foo/0/0', '/foo/0/length', '/a/b', '/foo/', '//', '/m~n/x',
  ]) {
    t.equal(resolvePointer(DOCUMENT, pointer), undefined, pointer)
  }
})

t.test('inherited properties are not found', async (t) => {
  for (const name of [
    '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'constructor/name', '__proto__/constructor',
  ]) {
    t.equal(resolvePointer({ content: {} }, `/${name}`), undefined, name)
    t.equal(resolvePointer({ content: {} }, `/content/${name}`), undefined, name)
    t.equal(resolvePointer([], `/${name}`), undefined, name)
  }
  t.equal(resolvePointer(JSON.parse('{"__proto__": {"x": 1}}'), '/__proto__/x'), 1, 'its own member is found')
})

t.test('a document that is not an object contains nothing', async (t) => {
  for (const document of [null, undefined, 7, 'text', true]) {
    t.equal(resolvePointer(document, '/0'), undefined)
    t.equal(resolvePointer(document, '/length'), undefined)
    t.equal(resolvePointer(document, ''), document)
  }
})

t.test('~01 is the name ~1 and not a slash', async (t) => {
  t.equal(resolvePointer({ '~1': 'right', '/': 'wrong' }, '/~01'), 'right')
  t.equal(resolvePointer({ '~0': 'right', '~': 'wrong' }, '/~00'), 'right')
})

t.test('null and false are found as they are', async (t) => {
  t.equal(resolvePointer({ a: null }, '/a'), null)
  t.equal(resolvePointer({ a: null }, '/a/b'), undefined)
  t.equal(resolvePointer({ a: [false] }, '/a/0'), false)
})

t.test('whatever the names of the members are, an escaped pointer leads to the value', async () => {
  const name = fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a', '.', '%', '"', '\\', '😀'), maxLength: 6 })
  fc.assert(fc.property(fc.array(name, { maxLength: 5 }), fc.jsonValue(), (path, value) => {
    let document: unknown = value
    for (const step of path.toReversed()) document = Object.fromEntries([[step, document]])
    const pointer = path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    return resolvePointer(document, pointer) === value
  }), { numRuns: 300 })
})

t.test('no document and no pointer cause an exception', async () => {
  fc.assert(fc.property(fc.jsonValue(), fc.string({
    unit: fc.constantFrom('/', '~', '0', '1', 'a', '-'),
  }), (document, pointer) => {
    resolvePointer(document, `/${pointer}`)
    return true
  }), { numRuns: 300 })
})
