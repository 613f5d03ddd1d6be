import t from 'tap'
import { objectsIn } from '../../../lib/validation/forbidden-members.js'
import { readJson, SHORT_BODY } from '../../../lib/validation/json-body.js'
import type { JsonBounds } from '../../../lib/validation/json-guard.js'

const WIDE: JsonBounds = { json_depth: 1000, json_values: 1_000_000, array_elements: 1_000_000 }
const PADDING = ' '.repeat(SHORT_BODY)

/** As a short body and as a long one: each has a way of its own. */
async function both (text: string | Buffer): Promise<unknown[]> {
  const bytes = Buffer.from(text as string)
  const read = async (body: Buffer) => {
    try {
      return await readJson(body, WIDE, 'somebody')
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return [await read(bytes), await read(Buffer.concat([bytes, Buffer.from(PADDING)]))]
}

t.test('a long body is read like a short one', async (t) => {
  const good = [
    '{"a":[1,null,"é日本😀"]}', '[]', '5', 'null', '"text"', '\uFEFF{"a":1}', '{"constructor":{"a":1}}',
    '{"constructor":null}', '{"a":"__proto__"}', '{"prototype":1}',
  ]
  for (const text of good) t.same(await both(text), Array(2).fill(JSON.parse(text.replace('\uFEFF', ''))), text)
  const bad = [
    '{', '{"a":}', '[1,]', '\u0000', '{"__proto__":1}', '[[{"a":{"\\u005f_proto__":{}}}]]',
    '{"constructor":{"prototype":{}}}', '{"a":[{"\\u0063onstructor":{"prototype":1}}]}',
  ]
  for (const text of bad) t.same(await both(text), ['invalid_json', 'invalid_json'], text)
})

t.test('the reason names a member that is not allowed, in a short and in a long body', async (t) => {
  const filled = (member: string) => `{"a":"${'x'.repeat(600_000)}",${member}}`
  const cases: Array<[member: string, detail: string]> = [
    ['"__proto__":1', 'Request body must not have a member "__proto__"'],
    ['"\\u005f_proto__":{}', 'Request body must not have a member "__proto__"'],
    ['"b":[{"__proto__":{}}]', 'Request body must not have a member "__proto__"'],
    [
      '"constructor":{"prototype":{}}',
      'Request body must not have a member "constructor" that has a member "prototype"',
    ],
    ['"constructor":}', 'Request body is not valid JSON'],
    ['"__proto__":', 'Request body is not valid JSON'],
  ]
  for (const [member, detail] of cases) {
    for (const text of [`{${member}}`, `\ufeff{${member}}`, `{${member}}${PADDING}`, filled(member)]) {
      await t.rejects(
        async () => await readJson(Buffer.from(text), WIDE, 'somebody'), { code: 'invalid_json', detail }, member,
      )
    }
  }
})

t.test('bytes that are not UTF-8 are refused, in a short and in a long body', async (t) => {
  for (const bytes of [[0xff], [0xe2, 0x82], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    const body = Buffer.concat([Buffer.from('["'), Buffer.from(bytes), Buffer.from('"]')])
    t.same(await both(body), ['invalid_json', 'invalid_json'])
  }
})

t.test('characters are not split between the pieces that are decoded', async (t) => {
  for (let shift = 0; shift < 4; shift++) {
    const text = 'x'.repeat(shift) + '😀é日'.repeat(80_000)
    t.equal(await readJson(Buffer.from(JSON.stringify(text)), WIDE, 'somebody'), text)
  }
})

t.test('the bounds hold for a long body as well', async (t) => {
  await t.rejects(
    async () => (
      await readJson(Buffer.from(`[${'[],'.repeat(50_000)}1]`), { ...WIDE, array_elements: 50_000 }, 'somebody')
    ),
    { code: 'body_too_large' },
  )
})

t.test('the inspection of a value counts what it has looked at, for the turns of the event loop', async (t) => {
  const seen = { values: 0 }
  const value = [{ a: 1, b: 2, c: 3 }, [4, 5], 6]
  const counts = Array.from(objectsIn(value, seen), () => seen.values)
  t.strictSame(counts, [0, 3, 5])
})
