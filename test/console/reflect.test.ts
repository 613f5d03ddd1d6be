import t from 'tap'
import { answerPartsOf, countCitations } from '../../console/src/pages/reflect/citations.js'
import {
  EXAMPLE_SCHEMA, EMPTY_FORM, requestOf, type ReflectFormValues,
} from '../../console/src/pages/reflect/request.js'
import { checkSchemaText } from '../../console/src/pages/reflect/schema-check.js'
import { fromLocalInput } from '../../console/src/text/local-time.js'
import { checkResponseSchema } from '../../lib/memory/reflect/response-schema.js'

t.test('only marks that name a source are marks of an answer', async (t) => {
  t.same(answerPartsOf('Tea. [1] Both [2][1]', 2), ['Tea. ', 1, ' Both ', 2, 1])
  t.same(answerPartsOf('[0] [3] [x] [01]', 2), ['[0] [3] [x] ', 1])
  t.same(answerPartsOf('', 2), [])
  t.same(answerPartsOf('Tea. [1]', 0), ['Tea. [1]'])
  t.same([...countCitations(['a', 1, 2, 1])], [[1, 2], [2, 1]])
})

const nested = (levels: number): object => levels === 0
  ? { type: 'string' }
  : { type: 'object', properties: { a: nested(levels - 1) } }
const wide = (count: number) => ({
  type: 'object', properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
})

/** The path of what is wrong; undefined: nothing. */
const SCHEMAS: ReadonlyArray<[schema: unknown, path: string | undefined]> = [
  [JSON.parse(EXAMPLE_SCHEMA), undefined],
  [{ type: 'object' }, undefined],
  [
    { type: 'object', properties: { a: { anyOf: [{ type: 'string', format: 'date' }, { enum: [1, null] }] } } },
    undefined,
  ],
  [{ type: 'object', properties: { a: { type: 'array', items: { const: { b: 1 } }, maxItems: 2 } } }, undefined],
  [
    { type: 'object', additionalProperties: false, required: ['a'], title: 'T', description: 'D', default: {} },
    undefined,
  ],
  [nested(7), undefined],
  [wide(256), undefined],
  [[], ''],
  ['text', ''],
  [{}, 'type'],
  [{ type: ['object'] }, 'type'],
  [{ type: 'array' }, 'type'],
  [nested(8), `${'properties.a.'.repeat(8).slice(0, -1)}`],
  [wide(257), ''],
  [{ type: 'object', $ref: '#' }, '$ref'],
  [{ type: 'object', properties: [] }, 'properties'],
  [{ type: 'object', properties: { a: true } }, 'properties.a'],
  [{ type: 'object', properties: { a: { type: 'text' } } }, 'properties.a.type'],
  [{ type: 'object', properties: { a: { type: ['null', 'null'] } } }, 'properties.a.type'],
  [{ type: 'object', properties: { a: { type: [] } } }, 'properties.a.type'],
  [{ type: 'object', properties: { a: { pattern: 'x' } } }, 'properties.a.pattern'],
  [{ type: 'object', properties: { a: { format: 'time' } } }, 'properties.a.format'],
  [{ type: 'object', properties: { a: { minLength: -1 } } }, 'properties.a.minLength'],
  [{ type: 'object', properties: { a: { maximum: '1' } } }, 'properties.a.maximum'],
  [{ type: 'object', properties: { a: { enum: [] } } }, 'properties.a.enum'],
  [{ type: 'object', properties: { a: { anyOf: [{}, { type: 1 }] } } }, 'properties.a.anyOf[1].type'],
  [{ type: 'object', required: 'a' }, 'required'],
  [{ type: 'object', required: ['__proto__'] }, 'required'],
  [{ type: 'object', additionalProperties: {} }, 'additionalProperties'],
  [{ type: 'object', title: 1 }, 'title'],
  [{ type: 'object', description: 'x'.repeat(16 * 1024) }, ''],
]

t.test('a schema is checked as the gateway checks it', async (t) => {
  for (const [schema, path] of SCHEMAS) {
    const text = JSON.stringify(schema)
    const { problems } = checkSchemaText(text)
    t.equal(problems[0]?.path, path, `${text.slice(0, 100)} in the console`)
    const judged = () => { checkResponseSchema(schema) }
    if (path === undefined) t.doesNotThrow(judged, `${text.slice(0, 100)} at the gateway`)
    else t.throws(judged, { code: 'invalid_request' }, `${text.slice(0, 100)} at the gateway`)
  }
})

t.test('an input that is not JSON, is too deep or contains an infinite number is refused', async (t) => {
  t.match(checkSchemaText('{"type": ').problems[0]?.message, /^Not JSON: /)
  t.match(
    checkSchemaText(`{"type": "object", "const": ${'['.repeat(5000)}${']'.repeat(5000)}}`).problems[0]?.message,
    /too deep/,
  )
  t.match(checkSchemaText('{"type": "object", "const": 1e999}').problems[0], { path: 'const', message: /finite/ })
  const { problems } = checkSchemaText('{"type": "object", "a": 1, "b": 1}')
  t.same(problems.map(({ path }) => path), ['a', 'b'], 'all problems are reported')
})

t.test('the fields become a request, or a message about what is missing', async (t) => {
  const values: ReflectFormValues = { ...EMPTY_FORM, bank: 'team', query: ' Tea? ' }
  t.same(requestOf(values), { request: { bank_id: 'team', query: 'Tea?' } })
  t.same(requestOf({ ...values, query: ' ' }), { missing: 'query' })
  t.same(requestOf({ ...values, hasSchema: true, schema: '{' }), { missing: 'schema' })
  const all = requestOf({
    ...values,
    moreBanks: 'user-bob, team',
    tags: 'a b, c,, a b',
    tagsMatch: 'all',
    minTrust: 'trusted',
    asOf: '2026-01-02T03:04',
    maxTokens: '100',
    instructions: 'Be brief.',
    hasSchema: true,
    schema: '{"type": "object"}',
  })
  t.same(all, {
    request: {
      banks: ['team', 'user-bob'],
      query: 'Tea?',
      tags: ['a b', 'c'],
      tags_match: 'all',
      min_trust: 'trusted',
      as_of: fromLocalInput('2026-01-02T03:04'),
      max_tokens: 100,
      instructions: 'Be brief.',
      response_schema: { type: 'object' },
    },
  })
})
