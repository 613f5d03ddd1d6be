import { createHash } from 'node:crypto'
import fc from 'fast-check'
import stringify from 'safe-stable-stringify'
import t from 'tap'
import { requestFingerprint } from '../../lib/memory/request-fingerprint.js'

/** What the receipts of earlier releases were made with. */
function inOneGo (query: unknown, body: unknown): string {
  return createHash('sha256').update(stringify([query, body])).digest('hex')
}

const fingerprint = async (query: unknown, body: unknown) => await requestFingerprint(query, body)

const query = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 })
/** With lone halves of characters, quotes, controls and everything else that JSON escapes. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.array(
  fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 },
)
  .map((units) => String.fromCharCode(...units)))

await t.test('the fingerprint of any JSON body is that of earlier releases', async () => {
  await fc.assert(fc.asyncProperty(query, fc.jsonValue({ maxDepth: 4 }), async (query, body) =>
    await fingerprint(query, body) === inOneGo(query, body)), { numRuns: 500 })
  const object = fc.dictionary(text, fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue(), text))
  await fc.assert(
    fc.asyncProperty(query, object, async (query, body) => await fingerprint(query, body) === inOneGo(query, body)),
    { numRuns: 500 },
  )
})

await t.test('the fingerprint of a request without a body is that of earlier releases', async (t) => {
  for (const body of [undefined, null, {}, [], '', 0, { a: undefined, b: [undefined] }]) {
    t.equal(await fingerprint({}, body), inOneGo({}, body), JSON.stringify(body))
  }
})

await t.test('the fingerprint of large objects and long lists is that of earlier releases', async (t) => {
  const keys = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${(index * 7919) % 3000}é`, index]))
  t.equal(await fingerprint({}, keys), inOneGo({}, keys))
  const batch = {
    items: Array.from({ length: 400 }, (_, index) => ({ tags: ['b', 'a'], content: `${index}"\u2028`.repeat(500) })),
    bank_id: 'bank',
  }
  t.equal(await fingerprint({ a: '1' }, batch), inOneGo({ a: '1' }, batch))
})

await t.test('the fingerprint of any text, or of its bytes, is that of earlier releases', async () => {
  await fc.assert(
    fc.asyncProperty(query, text, async (query, body) => await fingerprint(query, body) === inOneGo(query, body)),
    { numRuns: 500 },
  )
  await fc.assert(fc.asyncProperty(query, fc.uint8Array({ maxLength: 60 }), async (query, bytes) => {
    const body = Buffer.from(bytes)
    return await fingerprint(query, body) === inOneGo(query, body.toString('utf8'))
  }), { numRuns: 500 })
})

await t.test('the fingerprint of a long text does not depend on where it is split', async (t) => {
  const CHUNK_SIZE = 256 * 1024
  const filled = (units: number) => 'x'.repeat(units)
  const texts = [
    ...[-2, -1, 0, 1].flatMap((shift) => ['😀', '\ud83d', '\ude00', 'é', '\n', '"'].map((sign) => (
      `${filled(CHUNK_SIZE + shift)}${sign}${filled(10)}`
    ))),
    `${`${'{"text":"línea"}'.repeat(40)}\n`.repeat(2000)}`,
    `\ufeff${filled(CHUNK_SIZE * 2)}\ufeff`,
    '😀'.repeat(CHUNK_SIZE),
    '\ud83d'.repeat(CHUNK_SIZE + 1),
  ]
  for (const [index, text] of texts.entries()) {
    t.equal(await fingerprint({}, text), inOneGo({}, text), `text ${index}`)
    const bytes = Buffer.from(text)
    t.equal(await fingerprint({}, bytes), inOneGo({}, bytes.toString('utf8')), `bytes ${index}`)
  }
  // Bytes that are no UTF-8, before, in and after a cut.
  for (let shift = -4; shift <= 4; shift++) {
    const bytes = Buffer.from(filled(CHUNK_SIZE * 2))
    bytes.set([0xf0, 0x9f, 0x98, 0xe2, 0x82, 0xff], CHUNK_SIZE + shift)
    t.equal(await fingerprint({}, bytes), inOneGo({}, bytes.toString('utf8')), `broken bytes at ${shift}`)
  }
})
