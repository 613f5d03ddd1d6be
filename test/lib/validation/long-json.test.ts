import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { LongJson } from '../../../lib/validation/long-json.js'
import fc, { runs } from '../../helpers/fast-check.js'

/** What became of a text: its value, or that it was refused. */
type Outcome = { value: unknown } | { refused: string }

async function inPieces (bytes: Buffer, piece: number): Promise<Outcome> {
  try {
    return { value: await new LongJson(bytes, 'somebody', piece).parse() }
  } catch (error) {
    return { refused: (error as { code?: string }).code ?? (error as Error).name }
  }
}

function atOnce (bytes: Buffer): Outcome {
  try {
    return { value: JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) as unknown }
  } catch (error) {
    return { refused: (error as Error).name }
  }
}

const space = fc.array(fc.constantFrom(' ', '\n', '\t', '\r'), { maxLength: 20 }).map((all) => all.join(''))
const character = fc.constantFrom(
  'a', ',', '[', ']', '{', '}', ':', 'é', '日', '😀', '\\"', '\\\\', '\\n', '\\u0041', '\\ud83d\\ude00', '\\ud83d',
)
const text = fc.array(character, { maxLength: 60 }).map((all) => `"${all.join('')}"`)
const name = fc.constantFrom('"a"', '"b"', '"10"', '"2"', '"é"', '"\\u0061"', '"a\\"b"', '"constructor"')

/** JSON as its text, with white space wherever it may be. */
const { value: json } = fc.letrec<{ value: string }>((tie) => {
  const around = (inner: fc.Arbitrary<string>) => fc.tuple(space, inner, space).map((parts) => parts.join(''))
  const list = (open: string, member: fc.Arbitrary<string>, close: string) => (
    fc.array(member, { maxLength: 8 }).chain((all) => all.length > 0
      ? fc.constant(`${open}${all.join(',')}${close}`)
      : space.map((inside) => `${open}${inside}${close}`))
  )
  const scalar = fc.oneof(text, fc.constantFrom('1', '-2.5e3', '1e999', 'true', 'false', 'null'))
  return {
    value: around(fc.oneof({ depthSize: 'medium' },
      scalar,
      list('[', tie('value'), ']'),
      list('{', fc.tuple(around(name), tie('value')).map(([key, value]) => `${key}:${value}`), '}'))),
  }
})
const pieces = fc.integer({ min: 16, max: 80 })

t.test('a text that is parsed in pieces has the same value as in one call', async () => {
  await fc.assert(fc.asyncProperty(json, pieces, fc.boolean(), async (source, piece, hasMark) => {
    const bytes = Buffer.from(`${hasMark ? '\uFEFF' : ''}${source}`)
    return isDeepStrictEqual(await inPieces(bytes, piece), atOnce(bytes))
  }), { numRuns: runs(300, 10_000) })
})

t.test('a modified text is refused in pieces exactly when it is refused in one call', async () => {
  const inserted = fc.constantFrom('', '"', ',', ']', '}', '[', '{', ':', '\\', 'u', ' ', '1', '\u0000')
  const change = fc.record({ at: fc.nat(), out: fc.nat(2), put: inserted })
  const all = fc.array(change, { minLength: 1, maxLength: 3 })
  await fc.assert(fc.asyncProperty(json, pieces, all, async (source, piece, changes) => {
    const changed = changes.reduce((result, { at, out, put }) => {
      const place = at % (result.length + 1)
      return result.slice(0, place) + put + result.slice(place + out)
    }, source)
    const found = await inPieces(Buffer.from(changed), piece)
    // Digits put together, or a name with all that follows it, can be longer than a piece.
    return isDeepStrictEqual(found, { refused: 'body_too_large' }) ||
      isDeepStrictEqual(found, atOnce(Buffer.from(changed)))
  }), { numRuns: runs(300, 10_000) })
})

t.test('invalid UTF-8 is decoded in pieces as in one call', async () => {
  const byte = fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0x41, 0xe2, 0x82, 0xf0, 0x9f))
  await fc.assert(fc.asyncProperty(fc.array(byte, { maxLength: 200 }), pieces, async (inside, piece) => {
    const bytes = Buffer.concat([Buffer.from('"'), Buffer.from(inside), Buffer.from('"')])
    return isDeepStrictEqual(await inPieces(bytes, piece), atOnce(bytes))
  }), { numRuns: runs(300, 10_000) })
})

t.test('texts that cannot be split are refused: long numbers and long names', async (t) => {
  const refused = { refused: 'body_too_large' }
  t.same(await inPieces(Buffer.from(`[1,${'9'.repeat(100)}]`), 64), refused)
  t.same(await inPieces(Buffer.from(`{"${'n'.repeat(100)}":1}`), 64), refused)
  t.same(await inPieces(Buffer.from('9'.repeat(100)), 64), refused)
  for (const text of [`<a>${'x'.repeat(100)}`, 'hello '.repeat(20), `[${'x'.repeat(100)}]`, `true${' x'.repeat(50)}`]) {
    t.same(await inPieces(Buffer.from(text), 64), { refused: 'SyntaxError' }, text)
  }
  t.same(await inPieces(Buffer.from(`{"a":{"__proto__":"${'x'.repeat(100)}"}}`), 64), { refused: 'SyntaxError' })
})
