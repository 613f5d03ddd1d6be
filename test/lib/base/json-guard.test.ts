import t from 'tap'
import { checkJsonText, type JsonBounds } from '../../../lib/base/json-body.js'
import fc from '../../helpers/fast-check.js'

const WIDE: JsonBounds = { json_depth: 1000, json_values: 1_000_000, array_elements: 1_000_000 }

/** What a value of JSON holds, as JSON.parse sees it. */
function counts (value: unknown): { depth: number, values: number, elements: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1, elements: 0 }
  const members = Object.values(value).map(counts)
  const most = (name: 'depth' | 'elements') => members.reduce((max, member) => Math.max(max, member[name]), 0)
  return {
    depth: 1 + most('depth'),
    values: 1 + members.reduce((sum, member) => sum + member.values, 0),
    elements: Math.max(members.length, most('elements')),
  }
}

/** The lowest bounds that a text is within. */
function exactBounds (text: string): JsonBounds {
  const { depth, values, elements } = counts(JSON.parse(text))
  return { json_depth: depth, json_values: values, array_elements: elements }
}

/** JSON in any of its spellings: with white space, and with escapes that look like structure. */
const json = fc.tuple(
  fc.jsonValue({ maxDepth: 5, noUnicodeString: false }),
  fc.constantFrom(undefined, 1, '\t', ' \n'),
  fc.constantFrom('', '"', '\\', '\\"', '[{', ']}', ',', '\u2028', 'é"\\'),
).map(([value, space, text]) => JSON.stringify([value, { [`k${text}`]: text, a: [] }], undefined, space))

t.test('a text is accepted within bounds of exactly what JSON.parse creates', async () => {
  fc.assert(fc.property(json, (text) => {
    checkJsonText(Buffer.from(text), exactBounds(text))
  }))
})

t.test('a bound that is lower by one refuses the text, and the refusal names the bound', async (t) => {
  fc.assert(fc.property(json, (text) => {
    const exact = exactBounds(text)
    for (const bound of ['json_depth', 'json_values', 'array_elements'] as const) {
      t.throws(
        () => { checkJsonText(Buffer.from(text), { ...WIDE, [bound]: exact[bound] - 1 }, 'line 3') },
        { code: 'body_too_large', detail: new RegExp(`^line 3 .* \\(bounds\\.${bound}\\)$`) },
      )
    }
  }), { numRuns: 50 })
})

t.test('the values of a long text are counted alike', async (t) => {
  const text = JSON.stringify(Array.from({ length: 60_000 }, (_, index) => ({ 'a"\\': `${index}, [{"` })))
  const exact = { json_depth: 2, json_values: 120_001, array_elements: 60_000 }
  checkJsonText(Buffer.from(text), exact)
  for (const bounds of [{ ...exact, json_values: 120_000 }, { ...exact, array_elements: 59_999 }]) {
    t.throws(() => { checkJsonText(Buffer.from(text), bounds) }, { code: 'body_too_large' })
  }
})

t.test('invalid JSON is left to JSON.parse, however it is broken', async (t) => {
  for (const text of ['', ']', '}}}}', '[', '"', '"\\', '[1,2', '{"a":}', '[,]', 'nonsense', '\u0000']) {
    t.doesNotThrow(() => { checkJsonText(Buffer.from(text), WIDE) }, text)
  }
})

t.test('the guard stops at the first bracket that is too deep', async (t) => {
  const bytes = Buffer.alloc(1_000_000, '[')
  let read = 0
  const counting = new Proxy(bytes, {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) read++
      return Reflect.get(target, name) as unknown
    },
  })
  t.throws(() => { checkJsonText(counting, { ...WIDE, json_depth: 64 }) }, { code: 'body_too_large' })
  t.ok(read <= 65)
})
