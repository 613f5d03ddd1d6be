import fc from 'fast-check'
import stringify from 'safe-stable-stringify'
import t from 'tap'
import { requestFingerprint } from '../../lib/operations/idempotency.js'

/** With lone halves of characters, quotes, controls and everything else that JSON escapes. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.array(
  fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 },
)
  .map((units) => String.fromCharCode(...units)))
/** Few values, so that two of them are often equal, and often differ only in their structure. */
const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', ',', '[', '"') })
const body = fc.oneof(small, fc.dictionary(fc.constantFrom('a', 'b', ','), fc.oneof(small, fc.array(small))))

function shuffled (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).reverse().map(([name, member]) => [name, shuffled(member)]))
}

await t.test('bodies have the same fingerprint exactly when they are equal as JSON', async () => {
  await fc.assert(fc.asyncProperty(body, body, async (one, other) => {
    const areEqual = stringify(one) === stringify(other)
    return (await requestFingerprint({}, one) === await requestFingerprint({}, other)) === areEqual
  }), { numRuns: 2000 })
})

await t.test('the order of members does not count, at any depth', async () => {
  const object = fc.dictionary(text, fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue(), text))
  await fc.assert(fc.asyncProperty(object, object, async (query, body) => (
    await requestFingerprint(query, body) === await requestFingerprint(shuffled(query), shuffled(body))
  )), { numRuns: 500 })
})

await t.test('a parameter of the query counts, and where it ends', async (t) => {
  const fingerprints = await Promise.all([
    requestFingerprint({}, 1), requestFingerprint({ a: '1' }, 1), requestFingerprint({ a: '2' }, 1),
    requestFingerprint({ a: '' }, 11), requestFingerprint({ a: '1' }, 11),
  ])
  t.equal(new Set(fingerprints).size, 5)
})

await t.test('a member or a request without a value is one without the member', async (t) => {
  t.equal(await requestFingerprint({}, { a: undefined, b: 1 }), await requestFingerprint({}, { b: 1 }))
  t.equal(await requestFingerprint({}, undefined), await requestFingerprint({}, null))
})

await t.test('every byte of an import counts, wherever it is hashed', async (t) => {
  const bytes = Buffer.alloc(2 * 1024 * 1024 + 10, 'x')
  const seen = new Set([await requestFingerprint({}, bytes)])
  const places = [0, 1024 * 1024 - 1, 1024 * 1024, bytes.length - 1]
  for (const place of places) {
    const changed = Buffer.from(bytes)
    changed[place] = 0xff
    seen.add(await requestFingerprint({}, changed))
  }
  t.equal(seen.size, places.length + 1)
  t.equal(await requestFingerprint({}, new Uint8Array(bytes)), await requestFingerprint({}, bytes))
})
