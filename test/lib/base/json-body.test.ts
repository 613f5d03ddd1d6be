import t from 'tap'
import { type JsonBounds, readJson } from '../../../lib/base/json-body.js'

const WIDE: JsonBounds = { json_depth: 1000, json_values: 1_000_000, array_elements: 1_000_000 }
const PADDING = ' '.repeat(65_536)

const FORBIDDEN = 'Request body must not have a member "__proto__", or "constructor" with a member "prototype"'

/** As a short body and as a long one. */
function both (text: string | Buffer): unknown[] {
  const bytes = Buffer.from(text as string)
  const read = (body: Buffer) => {
    try {
      return readJson(body, WIDE)
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return [read(bytes), read(Buffer.concat([bytes, Buffer.from(PADDING)]))]
}

t.test('a long body is read like a short one', (t) => {
  const good = [
    '{"a":[1,null,"é日本😀"]}', '[]', '5', 'null', '"text"', '\uFEFF{"a":1}', '{"constructor":{"a":1}}',
    '{"constructor":null}', '{"a":"__proto__"}', '{"prototype":1}',
  ]
  for (const text of good) t.same(both(text), Array(2).fill(JSON.parse(text.replace('\uFEFF', ''))), text)
  const bad = [
    '{', '{"a":}', '[1,]', '\u0000', '{"__proto__":1}', '[[{"a":{"\\u005f_proto__":{}}}]]',
    '{"constructor":{"prototype":{}}}', '{"a":[{"\\u0063onstructor":{"prototype":1}}]}',
  ]
  for (const text of bad) t.same(both(text), ['invalid_json', 'invalid_json'], text)
  t.end()
})

t.test('the reason names the members that are not allowed, in a short and in a long body', (t) => {
  const filled = (member: string) => `{"a":"${'x'.repeat(600_000)}",${member}}`
  const cases: Array<[member: string, detail: string]> = [
    ['"__proto__":1', FORBIDDEN],
    ['"\\u005f_proto__":{}', FORBIDDEN],
    ['"b":[{"__proto__":{}}]', FORBIDDEN],
    ['"constructor":{"prototype":{}}', FORBIDDEN],
    ['"constructor":}', 'Request body is not valid JSON'],
    ['"__proto__":', 'Request body is not valid JSON'],
  ]
  for (const [member, detail] of cases) {
    for (const text of [`{${member}}`, `\ufeff{${member}}`, `{${member}}${PADDING}`, filled(member)]) {
      t.throws(() => readJson(Buffer.from(text), WIDE), { code: 'invalid_json', detail }, member)
    }
  }
  t.end()
})

t.test('bytes that are not UTF-8 are refused, in a short and in a long body', (t) => {
  for (const bytes of [[0xff], [0xe2, 0x82], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    const body = Buffer.concat([Buffer.from('["'), Buffer.from(bytes), Buffer.from('"]')])
    t.same(both(body), ['invalid_json', 'invalid_json'])
  }
  t.end()
})

t.test('characters are not split between the pieces that are decoded', (t) => {
  for (let shift = 0; shift < 4; shift++) {
    const text = 'x'.repeat(shift) + '😀é日'.repeat(80_000)
    t.equal(readJson(Buffer.from(JSON.stringify(text)), WIDE), text)
  }
  t.end()
})

t.test('the bounds hold for a long body as well', (t) => {
  t.throws(
    () => readJson(Buffer.from(`[${'[],'.repeat(50_000)}1]`), { ...WIDE, array_elements: 50_000 }),
    { code: 'body_too_large' },
  )
  t.end()
})
