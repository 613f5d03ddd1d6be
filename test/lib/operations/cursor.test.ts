import fc from '../../helpers/fast-check.js'
import t, { type Test } from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import {
  decodeCursor, encodeCursor, isBankPlace, isMemoryPlace, SealedCursors,
} from '../../../lib/operations/cursor.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'
import { newId, NOW } from '../../helpers/memories.js'

const REFUSAL = {
  code: 'invalid_request',
  members: { errors: [{ field: 'cursor', message: 'is not a cursor that this service gave' }] },
}

function refuses (t: Test, cursor: string): void {
  for (const check of [isMemoryPlace, isBankPlace]) {
    t.throws(() => decodeCursor<unknown>(cursor, check), REFUSAL, cursor)
  }
}

const encoded = (json: string): string => Buffer.from(json).toString('base64url')

t.test('a cursor that was returned can be read', async () => {
  const instant = fc.integer({ min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59Z') })
  fc.assert(fc.property(instant, fc.uuid(), (retainedAt, memoryId) => {
    const [time, id] = decodeCursor(encodeCursor([retainedAt, memoryId]), isMemoryPlace)
    return time === retainedAt && id === memoryId
  }))
  const bankId = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,254}$/)
  fc.assert(fc.property(bankId, (bankId) => decodeCursor(encodeCursor([bankId]), isBankPlace)[0] === bankId))
})

t.test('a cursor is safe in a URL', async (t) => {
  for (let index = 0; index < 50; index++) t.match(encodeCursor([NOW + index, newId()]), /^[A-Za-z0-9_-]+$/)
})

t.test('a cursor of one list is invalid for the other', async (t) => {
  t.throws(() => decodeCursor(encodeCursor([NOW, newId()]), isBankPlace), REFUSAL)
  t.throws(() => decodeCursor(encodeCursor(['home']), isMemoryPlace), REFUSAL)
})

t.test('a malformed cursor is an invalid request', async (t) => {
  const id = newId()
  for (const json of [
    '', 'null', '7', '"home"', '{}', '[]', '[null]', '[7]', '[[]]', '["home","more"]', '["home"',
    '{"0":"home","length":1}',
    '["__proto__", "x"]', '[""]', '["-home"]', '["home\\u0000"]', '["a b"]', `["${'x'.repeat(256)}"]`,
    `["${NOW}","${id}"]`, `[${NOW}]`, `[${NOW},"${id}",1]`, `[${NOW}.5,"${id}"]`, `[1e400,"${id}"]`, `[null,"${id}"]`,
    `[9007199254740993,"${id}"]`,
    `[${NOW},7]`, `[${NOW},""]`, `[${NOW},"not a uuid"]`, `[${NOW},"${id}\\u0000"]`, `[8640000000000001,"${id}"]`,
  ]) refuses(t, encoded(json))
})

t.test('a sealed cursor is read by every process with its key, for its list and tenant', async (t) => {
  const key = 'ab'.repeat(32)
  const cursor = new SealedCursors(key).seal('banks', 'acme', ['home'])
  t.strictSame(new SealedCursors(key).open('banks', 'acme', cursor, isBankPlace), ['home'])
  t.match(cursor, /^[A-Za-z0-9_-]{400}$/)
  const longest = new SealedCursors(key).seal('banks', 'acme', ['x'.repeat(255)])
  t.equal(longest.length, cursor.length)
  t.not(new SealedCursors(key).seal('banks', 'acme', ['home']), cursor, 'equal places have different cursors')
  for (const [cursors, list, tenant] of [
    [new SealedCursors('cd'.repeat(32)), 'banks', 'acme'], [new SealedCursors(), 'banks', 'acme'],
    [new SealedCursors(key), 'others', 'acme'], [new SealedCursors(key), 'banks', null],
    [new SealedCursors(key), 'banks', 'other'],
  ] as const) t.throws(() => cursors.open(list, tenant, cursor, isBankPlace), REFUSAL)
  t.throws(() => new SealedCursors(key).open('banks', 'acme', cursor, isMemoryPlace), REFUSAL)
})

t.test('no text causes another error', async (t) => {
  const garbage = fc.oneof(
    anyUtf16,
    anyUtf16.map(encoded),
    fc.json().map(encoded),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(null)), { maxLength: 3 }).map(encodeCursor),
  )
  fc.assert(fc.property(garbage, fc.constantFrom(isMemoryPlace, isBankPlace), (cursor, check) => {
    try {
      return check(decodeCursor<unknown>(cursor, check))
    } catch (error) {
      return error instanceof ServiceError && error.code === 'invalid_request'
    }
  }), { numRuns: 500 })
  const cursors = new SealedCursors()
  fc.assert(fc.property(garbage, (cursor) => {
    try {
      cursors.open('banks', null, cursor, isBankPlace)
      return false
    } catch (error) {
      return error instanceof ServiceError && error.code === 'invalid_request'
    }
  }))
  refuses(t, `${'['.repeat(100_000)}`)
  refuses(t, encoded('['.repeat(100_000)))
})
