import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { checkContent, checkText, screenMetadata } from '../../../lib/operations/preparation.js'
import type { FileConfig } from '../../../lib/config/schema.js'
import type { Metadata } from '../../../lib/stores/vector-store.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'
import { operatorSettings } from '../../helpers/settings.js'

const NONE = policy({})

function policy (
  barriers: NonNullable<FileConfig['barriers']>, homeostasis: NonNullable<FileConfig['homeostasis']> = {},
) {
  return operatorSettings({ barriers, homeostasis }).global
}

t.test('content has 1 to 50,000 characters unless the bank has other limits', async (t) => {
  t.equal(checkContent('', NONE), 'must not be empty')
  t.equal(checkContent('x', NONE), undefined)
  t.equal(checkContent('x'.repeat(50_000), NONE), undefined)
  t.equal(checkContent('x'.repeat(50_001), NONE), 'must not be longer than 50000 characters')
  const short = policy({ validation: { max_content_length: 3 } })
  t.equal(checkContent('abc', short), undefined)
  t.equal(checkContent('abcd', short), 'must not be longer than 3 characters')
  const long = policy({ validation: { max_content_length: 60_000 } })
  t.equal(checkContent('x'.repeat(60_000), long), undefined)
})

t.test('a character is a code point, whatever its size in memory', async (t) => {
  t.equal(checkContent('😀'.repeat(50_000), NONE), undefined)
  t.equal(checkContent('😀'.repeat(50_001), NONE), 'must not be longer than 50000 characters')
})

t.test('the byte limit counts UTF-8', async (t) => {
  const ceiling = policy({}, { retain_max_content_bytes: 4 })
  t.equal(checkContent('abcd', ceiling), undefined)
  t.equal(checkContent('😀', ceiling), undefined)
  t.equal(checkContent('abcde', ceiling), 'must not be larger than 4 bytes')
  t.equal(checkContent('äöü', ceiling), 'must not be larger than 4 bytes')
})

t.test('text that not every store can store is refused', async (t) => {
  t.equal(checkText('a\u0000b'), 'must not contain the character U+0000')
  t.equal(checkText('a\ud83d'), 'must be well-formed Unicode')
  t.equal(checkText('\ude00a'), 'must be well-formed Unicode')
  t.equal(checkContent('a\u0000b', NONE), 'must not contain the character U+0000')
  t.equal(checkContent('a\ud83d', NONE), 'must be well-formed Unicode')
  for (const text of ['', '😀', '\u0001\t\n', '\ufffd', '\u{10ffff}', 'e\u0301']) {
    t.equal(checkText(text), undefined, JSON.stringify(text))
  }
})

t.test('text that is accepted survives UTF-8', async () => {
  fc.assert(fc.property(anyUtf16, (text) => {
    const survives = !text.includes('\u0000') && Buffer.from(text, 'utf8').toString('utf8') === text
    return (checkText(text) === undefined) === survives
  }), { numRuns: 300 })
})

t.test('metadata is kept unchanged when nothing is blocked', async (t) => {
  const metadata = { a: 1, b: 'x', c: true, d: null }
  t.strictSame(screenMetadata(metadata, NONE), { metadata, redactions: [], errors: [] })
  t.strictSame(screenMetadata({}, NONE), { metadata: {}, redactions: [], errors: [] })
})

t.test('a blocked key is removed in every normalization of its text', async (t) => {
  const pairs = [
    ['\u00e9', 'e\u0301'], ['e\u0301', '\u00c9'], ['\u00e9', 'E\u0301'], ['J\u030c', '\u01f0'],
  ] as const
  for (const [blocked, given] of pairs) {
    const blocking = policy({ metadata: { blocked_keys: [blocked] } })
    const { metadata, redactions } = screenMetadata({ [given]: 1, e: 2 }, blocking)
    t.strictSame([metadata, redactions], [{ e: 2 }, [`metadata.${given}`]])
  }
})

t.test('a blocked key is removed in any case, and named as it was written', async (t) => {
  const blocking = policy({ metadata: { blocked_keys: ['SSN', 'password', '__proto__', 'straße'] } })
  const given = JSON.parse('{"ssn": "1", "Ssn": "2", "PassWord": "3", "pass_word": "4", "__proto__": "5", "STRASSE": ' +
    '"6", "Straße": "7"}') as Metadata
  t.strictSame(screenMetadata(given, blocking), {
    metadata: { pass_word: '4', STRASSE: '6' },
    redactions: ['metadata.ssn', 'metadata.Ssn', 'metadata.PassWord', 'metadata.__proto__', 'metadata.Straße'],
    errors: [],
  })
})

t.test('removed keys are not checked and do not count', async (t) => {
  const blocking = policy({ metadata: { blocked_keys: ['big', 'bad'], max_metadata_size_bytes: 20 } })
  t.strictSame(screenMetadata({ big: 'x'.repeat(100), bad: '\u0000', ok: 1 }, blocking).errors, [])
})

t.test('keys of combining marks are compared in linear time, and too many characters not at all', async (t) => {
  const tooLarge = [{ field: 'metadata', message: 'must not be larger than 4096 bytes as JSON' }]
  // Ordering the marks would take minutes for the first, and days for the second.
  for (let count = 0; count < 20; count++) {
    t.strictSame(screenMetadata({ [`a${'\u0301\u0323'.repeat(100_000)}`]: count }, NONE).errors, tooLarge)
  }
  t.strictSame(screenMetadata({ [`a${'\u0301\u0323'.repeat(2_000_000)}`]: 1 }, NONE).errors, tooLarge)
})

t.test('keys and values must be text that every store can store', async (t) => {
  for (const metadata of [{ a: 'x\u0000' }, { 'a\u0000': 1 }, { a: '\ud83d' }, { '\ud83d': true }] as Metadata[]) {
    const { errors } = screenMetadata(metadata, NONE)
    t.equal(errors.length, 1, JSON.stringify(metadata))
    t.equal(errors[0]?.field, 'metadata')
  }
})

t.test('metadata has at most 4096 bytes as JSON unless the bank says otherwise', async (t) => {
  const of = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  const tooLarge = (bytes: number) => [{ field: 'metadata', message: `must not be larger than ${bytes} bytes as JSON` }]
  t.strictSame(screenMetadata(of(4096), NONE).errors, [])
  t.strictSame(screenMetadata(of(4097), NONE).errors, tooLarge(4096))
  const narrow = policy({ metadata: { max_metadata_size_bytes: 2 } })
  t.strictSame(screenMetadata({}, narrow).errors, [])
  t.strictSame(screenMetadata({ a: 1 }, narrow).errors, tooLarge(2))
  t.strictSame(
    screenMetadata({ a: 'ä'.repeat(10) }, policy({ metadata: { max_metadata_size_bytes: 20 } })).errors, tooLarge(20),
  )
})

t.test('every key is either kept unchanged or named, and the input is not modified', async () => {
  const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', 'constructor', 'a', 'A', 'b'))
  const map = fc.array(fc.tuple(key, fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))))
    .map((entries): Metadata => Object.fromEntries(entries))
  fc.assert(fc.property(map, fc.array(
    fc.oneof(key.filter((text) => text !== ''), fc.constant('A')), { maxLength: 3 },
  ), (metadata, blocked) => {
    const before = JSON.stringify(metadata)
    const { metadata: kept, redactions } = screenMetadata(metadata, policy({ metadata: { blocked_keys: blocked } }))
    for (const [name, value] of Object.entries(metadata)) {
      const isBlocked = blocked.some((other) => other.toLowerCase() === name.toLowerCase())
      assert.equal(Object.hasOwn(kept, name), !isBlocked, name)
      assert.equal(redactions.includes(`metadata.${name}`), isBlocked, name)
      if (!isBlocked) assert.equal(Object.entries(kept).find(([other]) => other === name)?.[1], value)
    }
    assert.equal(Object.keys(kept).length + redactions.length, Object.keys(metadata).length)
    assert.equal(JSON.stringify(metadata), before)
  }), { numRuns: 200 })
})
