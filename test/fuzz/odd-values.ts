import fc from '../helpers/fast-check.js'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

const RAW = '\u0001raw:'

/** Stands for JSON text that no JavaScript value has, such as 1e999. */
const raw = (text: string) => `${RAW}${text}\u0001`

/**
 * JSON of a value, with the raw texts in it put in as they are, and names that end in U+0001 without that: so a name
 * can stand twice.
 */
export function toJson (value: unknown): string {
  return (JSON.stringify(value) ?? '')
    .replace(/"\\u0001raw:((?:[^"\\]|\\(?!u0001).)*)\\u0001"/g, (_, text: string) => JSON.parse(`"${text}"`) as string)
    .replaceAll('\\u0001":', '":')
}

const nested = (depth: number) => raw('['.repeat(depth) + ']'.repeat(depth))
const nestedObjects = (depth: number) => raw('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))

export const oddTexts = [
  '', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00x', 'x\ud83e', '\ufeff', '\u2028', '\r\n', '\u202e', 'NaN',
  'Infinity', '-1', '1e3', '0x10', '007', '1.5', 'null', 'undefined', 'true',
  '__proto__', 'constructor', 'toString', '*', '%00', '%', '../..', '..', '.', '/', '\\', '$1', '{{x}}', '<b>',
  '\'; --', 'all', 'any', 'user-bob', 'a'.repeat(129), 'a'.repeat(256), 'ä'.repeat(513), 'q'.repeat(8193),
  '\ud83e\udda6'.repeat(50),
  '2025-02-30T00:00:00Z', '2025-01-01', '2025-01-01T00:00:00', '2025-01-01T00:00:00+99:99',
  '9999-12-31T23:59:59.999999999Z', '0000-01-01T00:00:00Z', '0000-01-01T00:00:00+23:59', '2016-12-31T23:59:60Z',
  '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f', '01936F0E-7B3C-7A10-8D2F-4B1F2C3D4E5F',
  '00000000-0000-0000-0000-000000000000', '\u0130', 'ß', '\u1e9b\u0323', 'ﬃ',
]

const oddValues: JsonValue[] = [
  ...oddTexts, null, true, false, 0, -0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER, 2 ** 53, Number.MAX_VALUE,
  Number.MIN_VALUE,
  raw('1e999'), raw('-1e999'), raw('123456789012345678901234567890'), raw('1e-999'), raw('NaN'), raw('01'),
  raw('"\\ud800"'), raw('{"a":1,"a":2}'),
  [], [[]], [null], [1], [''], ['a', 'a'], {}, { a: null }, { a: { b: 1 } }, { '': '' }, { 'a\u0000': 'b' },
  { '\ud800': 1 }, { length: 5 },
  Array.from({ length: 101 }, (_, index) => `t${index}`),
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, 'value'])),
  nested(50), nested(5000), nestedObjects(5000),
  raw('{"__proto__":{"x":1}}'), raw('{"constructor":{"prototype":{"x":1}}}'),
  raw('{"toString":1,"valueOf":2,"hasOwnProperty":3}'),
]

export const oddValue: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...oddValues) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue> },
)

export const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

/** What can come in a header: Latin-1 without control characters. */
export const oddHeader = fc.oneof(
  fc.constantFrom(
    '', ' ', '\t', '*', 'user:*', 'user:bob', 'bob', ':', 'user:', ':bob', 'a b', 'a, b', '\u00e9', '\u00a0',
    '"', '\\', '%00', '__proto__', 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(256), 'x'.repeat(257),
    'x'.repeat(9000), '0', '-1', '1e9',
    'Bearer', 'Bearer ', 'Bearer x', 'Bearer a.b.c', 'bearer eyJhbGciOiJub25lIn0.e30.', 'Basic YTpi', 'Bearer x y',
    `Bearer ${'a'.repeat(9000)}`, `Bearer ${'.'.repeat(100)}`, 'Bearer e30.e30.e30', 'Bearer bnVsbA.bnVsbA.',
    'Bearer W10.W10.W10'),
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  }),
)

export const contentTypes = fc.constantFrom(
  'application/json', 'application/json; charset=utf-8', 'application/json;charset=latin1',
  'APPLICATION/JSON', 'application/x-ndjson', 'application/ndjson', 'text/plain', 'text/event-stream',
  'multipart/form-data', 'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded', 'application/problem+json', 'application/json, text/plain', 'application/jsonx',
  'json', '/', '', ' ', ';', 'application/', '*/*', 'a/b; c="', 'application/json; \u00e9', '__proto__',
  'application/octet-stream')

/** One part of a path as the URL contains it, already escaped. */
export const oddSegment = fc.oneof(
  fc.constantFrom(
    '%', '%zz', '%00', '%2F', '%2f%2e%2e', '..%2f', '%25', '%e0%a4%a', '%ff', '%C0%AF', '%ed%a0%80', '%0a', '%20', '+',
    '*', ':', '::', '@', '.', '..', '...', ';x=1', '', '-', '_', 'a'.repeat(255), 'a'.repeat(256), 'a'.repeat(1024),
    'a'.repeat(1025), 'a'.repeat(5000), '%61'.repeat(255), '%61'.repeat(400), '__proto__', 'constructor',
    'hasOwnProperty', 'user-bob', 'hook', 'signed',
  ),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
)
