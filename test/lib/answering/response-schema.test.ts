import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import {
  checkResponseSchema, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_PROPERTIES,
} from '../../../lib/answering/response-schema.js'
import { runSync, problemSteps } from '../../../lib/answering/structured.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { JsonSchema } from '../../../lib/models/language-model.js'
import { strictAjv } from '../../../lib/base/schema-check.js'
import fc, { runs } from '../../helpers/fast-check.js'

const PERSON = {
  type: 'object',
  title: 'Person',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5, description: 'x' },
    age: { type: ['integer', 'null'], minimum: 0, exclusiveMaximum: 150 },
    tags: { type: 'array', items: { enum: ['a', 'b', 1] }, minItems: 1, maxItems: 2, default: ['a'] },
    home: {
      anyOf: [
        { type: 'string', format: 'uuid' },
        { type: 'object', properties: { since: { type: 'string', format: 'date' } }, required: ['since'] },
      ],
    },
    kind: { const: { a: [1] } },
  },
  required: ['name'],
  additionalProperties: false,
}

function refusal (t: Test, schema: unknown, field: string, message: RegExp): void {
  try {
    checkResponseSchema(schema)
    t.fail(`taken: ${field}`)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    t.equal(error.code, 'invalid_request')
    t.match(error.members.errors, [{ field, message }])
  }
}

function problemsOf (schema: JsonSchema, value: unknown): string[] {
  return runSync(problemSteps(schema, value))
}

function problems (schema: unknown, value: unknown): string[] {
  return problemsOf(checkResponseSchema(schema), value)
}

/** As many schemas inside each other as the number says. */
function nested (depth: number): object {
  return depth === 1 ? { type: 'object' } : { type: 'object', properties: { a: nested(depth - 1) } }
}

t.test('a schema within the bounds is returned unchanged', async (t) => {
  t.equal(checkResponseSchema(PERSON), PERSON)
  t.ok(checkResponseSchema(nested(MAX_SCHEMA_DEPTH)))
})

t.test('a schema that does not describe an object is refused', async (t) => {
  for (const schema of [null, 7, 'object', [], true]) refusal(t, schema, 'response_schema', /must be a JSON Schema/)
  for (const schema of [{}, { type: 'array' }, { type: ['object'] }]) {
    refusal(t, schema, 'response_schema.type', /must be "object"/)
  }
})

t.test('an unsupported keyword is refused by its name, at any place', async (t) => {
  for (const keyword of [
    '$ref', '$defs', '$id', 'pattern', 'patternProperties', 'oneOf', 'not', 'if', 'uniqueItems', 'multipleOf',
    'constructor', 'toString', 'x-mine',
  ]) {
    refusal(t, { type: 'object', [keyword]: 'a' }, `response_schema.${keyword}`, /is not a supported keyword/)
    refusal(
      t, { type: 'object', properties: { a: { type: 'array', items: { anyOf: [{ [keyword]: 'a' }] } } } },
      `response_schema.properties.a.items.anyOf[0].${keyword}`, /is not a supported keyword/,
    )
  }
  refusal(t, JSON.parse('{"type":"object","__proto__":{}}'), 'response_schema.__proto__', /is not a supported keyword/)
  refusal(
    t, JSON.parse('{"type":"object","properties":{"__proto__":{}}}'), 'response_schema.properties.__proto__',
    /is not a name/,
  )
  refusal(t, { type: 'object', required: ['__proto__'] }, 'response_schema.required', /__proto__/)
})

t.test('a keyword with the wrong value is refused', async (t) => {
  const wrong: Array<[keyword: string, value: unknown]> = [
    ['type', 'text'], ['type', []], ['type', ['string', 'string']], ['properties', []], ['properties', { a: true }],
    ['required', 'a'], ['required', [1]], ['additionalProperties', {}],
    ['items', [{}]], ['items', false], ['enum', []], ['enum', 'a'], ['anyOf', []], ['anyOf', {}], ['anyOf', [true]],
    ['title', 1], ['description', null], ['minLength', -1], ['maxLength', 1.5],
    ['minItems', '1'], ['maxItems', null], ['minimum', '0'], ['maximum', null], ['exclusiveMinimum', true],
    ['format', 'regex'], ['format', 1],
  ]
  for (const [keyword, value] of wrong) {
    const place = `response_schema.properties.a.${keyword}${keyword === 'properties' && !Array.isArray(value)
      ? '.a'
      : ''}${keyword === 'anyOf' && Array.isArray(value) && value.length > 0 ? '[0]' : ''}`
    refusal(t, { type: 'object', properties: { a: { [keyword]: value } } }, place, /must/)
  }
})

t.test('the bounds of a schema are enforced', async (t) => {
  refusal(t, nested(MAX_SCHEMA_DEPTH + 1), `response_schema${'.properties.a'.repeat(MAX_SCHEMA_DEPTH)}`, /schemas deep/)
  const properties = (count: number, prefix: string) => Object.fromEntries(Array.from(
    { length: count }, (_, index) => [`${prefix}${index}`, {}],
  ))
  const most = { type: 'object', properties: { a: { properties: properties(MAX_SCHEMA_PROPERTIES - 2, 'x') }, b: {} } }
  t.ok(checkResponseSchema(most))
  refusal(t, { ...most, properties: { ...most.properties, c: {} } }, 'response_schema', /256 properties/)
  const padded = (bytes: number) => ({
    type: 'object', title: 'é'.repeat(Math.floor((bytes - 28) / 2)) + ((bytes - 28) % 2 === 1 ? 'x' : ''),
  })
  t.equal(Buffer.byteLength(JSON.stringify(padded(MAX_SCHEMA_BYTES))), MAX_SCHEMA_BYTES)
  t.ok(checkResponseSchema(padded(MAX_SCHEMA_BYTES)))
  refusal(t, padded(MAX_SCHEMA_BYTES + 1), 'response_schema', /16384 bytes/)
  refusal(
    t, { type: 'object', const: JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) }, 'response_schema',
    /nested too deeply; the maximum is 64 levels/,
  )
})

t.test('a schema that is too long is read only as far as the bound', async (t) => {
  const unread = (target: unknown[] | Record<string, unknown>, name: string) => {
    Object.defineProperty(target, name, { enumerable: true, get: () => { t.fail('read beyond the bound') } })
    return { type: 'object', const: target }
  }
  const members = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}`.padEnd(2000, 'x'), 1]))
  for (const schema of [
    unread(Array.from({ length: MAX_SCHEMA_BYTES }, () => []), String(MAX_SCHEMA_BYTES)),
    unread(['x'.repeat(MAX_SCHEMA_BYTES)], '1'),
    unread(members, 'last'),
  ]) refusal(t, schema, 'response_schema', /16384 bytes/)
})

t.test('an instance is checked by every keyword, and problems name the path and no value', async (t) => {
  t.strictSame(
    problems(PERSON, { name: 'Ann', age: null, tags: [1], home: { since: '2024-02-29' }, kind: { a: [1] } }), [],
  )
  t.strictSame(problems(PERSON, { name: '😀😀😀😀😀' }), [], 'characters are counted, not UTF-16 units')
  t.strictSame(problems(PERSON, {
    name: 'secret-name', age: 1.5, tags: [], home: 'secret', kind: { a: [2] }, secret: 1,
  }), [
    'name: must have at most 5 characters',
    'age: must be integer or null',
    'tags: must have at least 1 items',
    'home: must satisfy one of anyOf',
    'kind: must be the value of const',
    'secret: is not a property of the schema',
  ])
  t.strictSame(problems(PERSON, { age: 150, tags: ['a', 'secret', 'b'] }), [
    'name: is required',
    'age: must be less than 150',
    'tags: must have at most 2 items',
    'tags[1]: must be one of the values of enum',
  ])
  t.strictSame(problems(PERSON, []), ['must be object'])
  t.strictSame(problems(
    {
      type: 'object',
      properties: { a: { minimum: 1, exclusiveMinimum: 0, maximum: 3, minLength: 2 }, b: { type: 'number' } },
    },
    { a: 0, b: Infinity },
  ), [
    'a: must be at least 1', 'a: must be more than 0', 'b: must be number',
  ])
  t.strictSame(problems({ type: 'object', properties: { a: { maximum: 3 } } }, { a: 4 }), ['a: must be at most 3'])
})

t.test('formats are checked', async (t) => {
  const good = {
    'date-time': '2024-03-01T10:00:00Z',
    date: '2024-03-01',
    email: 'a.b@c.example',
    uri: 'https://a.example/x',
    uuid: '0190a6f0-0000-7000-8000-000000000000',
  }
  const bad = {
    'date-time': ['2024-03-01', '2024-02-30T10:00:00Z'],
    date: ['2024-02-30', '1.3.2024', '2024-03-01T10:00:00Z'],
    email: ['a', 'a@b', '@b.c', 'a@b@c.d', 'a b@c.d', 'a@.d', `${'a'.repeat(65)}@b.c`],
    uri: ['a', '/a', 'http://', 'http://a b'],
    uuid: ['x'],
  }
  for (const [format, value] of Object.entries(good)) {
    t.strictSame(problems({ type: 'object', properties: { a: { format } } }, { a: value }), [], format)
  }
  for (const [format, values] of Object.entries(bad)) {
    for (const value of values) {
      t.match(
        problems({ type: 'object', properties: { a: { format } } }, { a: value }), [/^a: must be /],
        `${format}: ${value}`,
      )
    }
  }
})

t.test('problems are bounded in number and in length', async (t) => {
  const many = problems(
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
    { a: Array.from({ length: 100_000 }, () => 1) },
  )
  t.equal(many.length, 20)
  const [long] = problems({ type: 'object', additionalProperties: false }, { ['x'.repeat(10_000)]: 1 })
  t.ok(long!.length < 200)
})

t.test('a long answer to a long schema, which would take minutes, is not checked to its end', async (t) => {
  const items = {
    anyOf: [
      ...new Array<object>(800).fill({ type: 'null' }), { enum: Array.from({ length: 200 }, (_, index) => index) },
    ],
  }
  const schema = { type: 'object', properties: { a: { type: 'array', items } } }
  t.same(problems(schema, { a: new Array<number>(400).fill(199) }), [])
  const [first, ...more] = problems(schema, { a: new Array<number>(300_000).fill(199) })
  t.match(first, /^a\[\d+\]: .*/)
  t.ok(more.some((problem) => problem.endsWith('is too long to be checked')))
  t.ok(more.length < 20)
})

t.test('names that every object inherits are names like others', async (t) => {
  const schema = {
    type: 'object',
    properties: { constructor: { type: 'string' } },
    required: ['constructor', 'toString'],
    additionalProperties: false,
  }
  t.strictSame(problems(schema, {}), ['constructor: is required', 'toString: is required'])
  t.strictSame(problems(schema, { constructor: 1, valueOf: 1 }), [
    'toString: is required', 'constructor: must be string', 'valueOf: is not a property of the schema',
  ])
  t.strictSame(
    problems({ type: 'object', additionalProperties: false }, JSON.parse('{"__proto__":{"a":1}}')),
    ['__proto__: is not a property of the schema'],
  )
  t.strictSame(({} as Record<string, unknown>)['a'], undefined)
})

t.test('any value is judged as Ajv judges it', async () => {
  const leaf = fc.oneof(
    fc.constant({}),
    fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
    fc.record({ type: fc.constant(['string', 'null']), minLength: fc.nat(3), maxLength: fc.nat(3) }),
    fc.record({ minimum: fc.integer({ min: -3, max: 3 }), exclusiveMaximum: fc.integer({ min: -3, max: 3 }) }),
    fc.record({
      enum: fc.uniqueArray(fc.jsonValue({ maxDepth: 1 }), {
        minLength: 1, maxLength: 3, selector: (value) => JSON.stringify(value),
      }),
    }),
    fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
  )
  const name = fc.constantFrom('a', 'b', 'constructor', 'toString')
  const { schema } = fc.letrec<{ schema: object, inner: object }>((tie) => ({
    inner: fc.oneof({ maxDepth: 3 }, leaf, tie('schema'),
      fc.record(
        { type: fc.constant('array'), items: tie('inner'), minItems: fc.nat(2), maxItems: fc.nat(3) },
        { requiredKeys: ['type'] },
      ),
      fc.record({ anyOf: fc.array(tie('inner'), { minLength: 1, maxLength: 3 }) })),
    schema: fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(name, tie('inner'), { noNullPrototype: true }),
        required: fc.uniqueArray(name),
        additionalProperties: fc.boolean(),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  }))
  const value = fc.oneof(
    fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }), fc.jsonValue({ maxDepth: 3 }),
  )
  fc.assert(fc.property(schema, fc.array(value, { minLength: 3, maxLength: 8 }), (schema, values) => {
    const ours = checkResponseSchema(schema)
    const ajv = strictAjv({ ownProperties: true })
    for (const value of values) {
      assert.equal(problemsOf(ours, value).length === 0, ajv.validate(schema, value), JSON.stringify([schema, value]))
    }
  }), { numRuns: runs(50, 300) })
})

t.test('a value that is compared with long lists is checked in steps, and only so far', async (t) => {
  const long = <T>(value: T, length: number) => Array<T>(length).fill(value)
  for (const [items, value] of [
    [{ anyOf: [{ enum: long([[[2]]], 1_900) }, { type: 'array' }] }, long([[[1]]], 200)],
    [{ anyOf: [...long({ type: 'null' }, 500), { type: 'array' }] }, long([[[1]]], 800)],
    [{ anyOf: [{ required: long('a', 3_000) }, { type: 'object' }] }, long({ a: 1 }, 1_000)],
    [
      { anyOf: [...long({ required: ['b'] }, 500), { type: 'object' }] },
      [Object.fromEntries(long(0, 5_000).entries())],
    ],
    [{ anyOf: [...long({ maxLength: 1 }, 500), { type: 'string' }] }, long('a'.repeat(10_000), 20)],
  ] as const) {
    const schema = checkResponseSchema({ type: 'object', properties: { a: { type: 'array', items } } })
    const checking = problemSteps(schema, { a: value })
    let steps = 1
    while (checking.next().done !== true) steps += 1
    t.ok(steps > 90 && steps < 5_000, `${steps} steps for ${JSON.stringify(items).slice(0, 50)}`)
  }
})

t.test('a checked schema can be garbage-collected', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: unknown = runInNewContext('gc')
  assert.ok(typeof collectGarbage === 'function')
  const references = Array.from({ length: 50 }, (_, index) => {
    const schema = checkResponseSchema({ type: 'object', properties: { [`a${index}`]: { type: 'string' } } })
    problemsOf(schema, { [`a${index}`]: 1 })
    return new WeakRef(schema)
  })
  await new Promise(setImmediate)
  collectGarbage()
  t.ok(references.filter((reference) => reference.deref() !== undefined).length < 5)
})
