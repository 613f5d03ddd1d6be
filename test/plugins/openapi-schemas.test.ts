import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { buildApp } from '../../app.js'
import type { AuthMode } from '../../lib/config/config.js'
import { forGenerators, type Schema } from '../../plugins/openapi.js'
import { OPENAPI_FILE, openApiText } from '../../scripts/openapi-document.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { parseEvents } from '../helpers/events.js'

interface Media { schema?: Schema, example?: unknown, examples?: unknown }
interface Operation {
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string, content?: Record<string, Media> }>
}
interface Document {
  servers: unknown[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const JSON_TYPE = 'application/json'
const committed = readFileSync(OPENAPI_FILE, 'utf8')
const app = await testApp(t)
const document = (await app.get('/openapi.json')).json<Document>()
const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addFormat('uuid7', true)
const check = (name: string) => (
  ajv.compile({ $ref: `#/components/schemas/${name}`, components: document.components })
)

const operations = Object.entries(document.paths).flatMap(([path, methods]) => (
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
))
/** The bodies and the answers of an operation. */
const mediaOf = ({ requestBody, responses }: Operation) => (
  [...requestBody === undefined ? [] : [requestBody], ...Object.values(responses)]
    .flatMap(({ content = {} }) => Object.entries(content))
)

/** Every schema in one, itself included. */
function * within (node: unknown): Generator<Schema> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) yield node as Schema
  for (const [keyword, child] of Object.entries(node)) {
    if (keyword !== 'example' && keyword !== 'examples') yield * within(child)
  }
}

await t.test('openapi.json is the document of the present routes', async (t) => {
  // Not t.equal: the difference of two such files takes minutes.
  t.ok(await openApiText() === committed, '`npm run generate` writes it')
})

for (const mode of ['dev', 'api_key', 'jwt_hs256', 'jwt_oidc'] as const satisfies AuthMode[]) {
  await t.test(`in mode ${mode} it differs from openapi.json only in the credentials of callers`, async (t) => {
    const { app: other } = await testApp(t, { auth: { mode } })
    t.ok(JSON.stringify(other.openApiDocumentOfEveryMode()) === JSON.stringify(JSON.parse(committed)))
    const ownSecurity = (text: string) => (JSON.parse(text) as {
      paths: Record<string, Record<string, { security: unknown[] }>>
    })
      .paths['/v1/recall']!['post']!.security
    t.not(ownSecurity(other.openApiDocument().toString()).length, 4)
    t.strictSame(ownSecurity(committed), [{}, { principal: [] }, { apiKey: [], principal: [] }, { bearer: [] }])
  })
}

await t.test('every object that a client sends or receives, alone or in a list, has a name', async (t) => {
  const isUnnamed = (schema: Schema | undefined) => schema?.properties !== undefined || schema?.oneOf !== undefined
  const bodies = operations.filter(({ operation }) => mediaOf(operation).some(([, { schema }]) => isUnnamed(schema)))
  const elements = [...operations.map(({ name, operation }) => [name, operation] as const), ...Object.entries(
    document.components.schemas,
  )]
    .filter(([, node]) => [...within(node)].some(({ items }) => isUnnamed(items)))
  const advice = 'Give the TypeBox schema a `title` of one capitalised word; it is the name in the document'
  t.strictSame(bodies.map(({ name }) => name), [], advice)
  t.strictSame(elements.map(([name]) => name), [], advice)
  for (const name of [
    'Memory', 'Hit', 'RecallRequest', 'RecallAnswer', 'RetainRequest', 'Error', 'ReflectEvent', 'ExportLine',
  ]) {
    t.ok(name in document.components.schemas, name)
  }
})

await t.test('every enum has its type', async (t) => {
  const enums = [...within(document)].filter((schema) => Array.isArray(schema.enum))
  t.ok(enums.length > 20)
  t.strictSame(enums.filter(({ type }) => type === undefined).map((schema) => schema.enum), [])
})

await t.test('every answer has a description and an example', async (t) => {
  for (const { name, operation } of operations) {
    for (const [status, { description, content = {} }] of Object.entries(operation.responses)) {
      t.match(description, /\S/, `${name} ${status}`)
      t.not(description, 'Default Response', `${name} ${status}: the schema of the answer has a description`)
      for (const [type, { schema, example, examples }] of Object.entries(content)) {
        const named = document.components.schemas[schema?.$ref?.split('/').at(-1) ?? '']
        const own = [example, examples, schema?.['examples'], named?.['examples']]
        t.ok(own.some((one) => one !== undefined), `${name} ${status} ${type} has an example`)
      }
    }
  }
  t.match(document.servers, [{ url: '/' }, { url: /^http:/ }])
})

await t.test('a choice in the document is a choice of the service', async (t) => {
  const ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
  const TIME = '2026-01-01T00:00:00Z'
  const bodies: Record<string, Array<[body: object, isRight: boolean]>> = {
    recall: [
      [{ query: 'tea', bank_id: 'a' }, true],
      [{ query: 'tea', banks: ['a', 'b'], max_results: 3 }, true],
      [{ query: 'tea' }, false],
      [{ query: 'tea', bank_id: 'a', banks: ['b'] }, false],
      [{ query: 'tea', bank_id: 'a', top_k: 3 }, false],
    ],
    forget: [
      [{ bank_id: 'a', memory_ids: [ID] }, true],
      [{ bank_id: 'a', tags: ['x'], tags_match: 'all' }, true],
      [{ bank_id: 'a', scope: 'all', dry_run: true }, true],
      [{ bank_id: 'a', document_ids: ['d'] }, true],
      [{ bank_id: 'a', document_ids: ['d'], tags: ['x'], tags_match: 'all', retained_before: TIME }, true],
      [{ bank_id: 'a', metadata: { topic: 'tea' }, occurred_after: TIME }, true],
      [{ bank_id: 'a' }, false],
      [{ bank_id: 'a', tags_match: 'all' }, false],
      [{ bank_id: 'a', document_ids: ['d'], tags_match: 'all' }, false],
      [{ bank_id: 'a', document_ids: ['d'], scope: 'all' }, false],
      [{ bank_id: 'a', document_ids: ['d'], memory_ids: [ID] }, false],
      [{ bank_id: 'a', tags: ['x'], scope: 'all' }, false],
      [{ bank_id: 'a', memory_ids: [ID], tags_match: 'all' }, false],
    ],
  }
  bodies['reflect'] = bodies['recall']!.filter(([body]) => !('max_results' in body))
  for (const [operation, cases] of Object.entries(bodies)) {
    const validate = check(`${operation[0]!.toUpperCase()}${operation.slice(1)}Request`)
    for (const [body, isRight] of cases) {
      t.equal(validate(body), isRight, `the document on ${operation} ${JSON.stringify(body)}`)
      t.equal(
        (await app.post(`/v1/${operation}`, body)).statusCode === 200, isRight,
        `the service on ${JSON.stringify(body)}`,
      )
    }
  }
})

await t.test('the events of a reflect and the lines of an export satisfy the document', async (t) => {
  await app.retain('told', 'Alice drinks tea.', { tags: ['a'] })
  const stream = await app.post(
    '/v1/reflect', { bank_id: 'told', query: 'What does Alice drink?' }, { accept: 'text/event-stream' },
  )
  const events = parseEvents(stream.body)
  t.ok(events.length >= 4)
  const isEvent = check('ReflectEvent')
  for (const { event, data } of events) t.ok(isEvent({ event, data }), `${event}: ${ajv.errorsText(isEvent.errors)}`)
  t.notOk(isEvent({ event: 'done', data: {} }))
  t.notOk(isEvent({ event: 'other', data: {} }))

  const lines = (await app.get('/v1/banks/told/export')).body.trim().split('\n').map((line) => (
    JSON.parse(line) as unknown
  ))
  t.equal(lines.length, 2)
  const [isExportLine, isImportLine] = [check('ExportLine'), check('ImportLine')]
  for (const line of lines) t.ok(isExportLine(line) && isImportLine(line), ajv.errorsText(isExportLine.errors))
  t.ok(isImportLine({ text: 'Only a text.' }))
  t.notOk(isImportLine({ content: 'No text.' }))
})

await t.test('a route whose schemas have no names is in the document unchanged', async (t) => {
  const gateway = await buildApp(testConfig({ logLevel: 'silent' }))
  t.teardown(async () => { await gateway.close() })
  const answer = { type: 'object', properties: { said: { type: 'string' } } }
  gateway.post('/inline', {
    config: { scope: 'public' },
    schema: { body: { type: 'object', properties: { level: { enum: ['low', 'high'] } } }, response: { 200: answer } },
  }, async () => ({ said: 'yes' }))
  await gateway.ready()
  const { paths } = JSON.parse(gateway.openApiDocument().toString()) as Document
  const { requestBody, responses } = paths['/inline']!['post']!
  t.match(responses['200']!.content, { [JSON_TYPE]: { schema: answer } })
  t.match(requestBody!.content, {
    [JSON_TYPE]: { schema: { properties: { level: { type: 'string', enum: ['low', 'high'] } } } },
  })
  t.strictSame(
    (await gateway.inject({ method: 'POST', url: '/inline', payload: { level: 'low' } })).json(), { said: 'yes' },
  )
})

const documentOf = (...schemas: Schema[]) => ({
  paths: {
    '/a': {
      post: {
        responses: Object.fromEntries(schemas.map((schema, index) => [
          200 + index, { content: { [JSON_TYPE]: { schema } } },
        ])),
      },
    },
  },
})
const madeOf = (...schemas: Schema[]) => {
  const made = forGenerators(documentOf(...schemas)) as Document
  const answers = Object.values(made.paths['/a']!['post']!.responses).map(({ content }) => content![JSON_TYPE]!.schema)
  return { answers, schemas: made.components.schemas }
}

await t.test('two different schemas of one name end the start', async (t) => {
  const one = { title: 'One', type: 'object', properties: { a: { type: 'string' } } }
  t.throws(() => madeOf(one, { ...one, properties: {} }), { message: 'Two different schemas have the name One' })
  t.doesNotThrow(() => madeOf(one, { ...one }))
  const kept = forGenerators({ components: { schemas: { 'def-0': { type: 'object', properties: {} } } } }) as Document
  t.match(kept.components.schemas, { 'def-0': { type: 'object' } }, 'an existing definition stays')
})

await t.test('an annotation that differs between uses stays with each; another is that of the schema', async (t) => {
  const level = { title: 'Level', enum: ['low', 'high'] }
  const use = (description: string) => ({
    title: 'Use', type: 'object', description: 'Used.', properties: { level: { ...level, description } },
  })
  const $ref = '#/components/schemas/Level'
  t.strictSame(madeOf({ ...level, description: 'Of this.' }, { ...level, description: 'Of that.' }, level), {
    answers: [{ $ref, description: 'Of this.' }, { $ref, description: 'Of that.' }, { $ref }],
    schemas: { Level: { type: 'string', enum: ['low', 'high'] } },
  })
  t.strictSame(madeOf(use('Of all.'), use('Of all.')).schemas, {
    Level: { description: 'Of all.', type: 'string', enum: ['low', 'high'] },
    Use: { description: 'Used.', type: 'object', properties: { level: { $ref } } },
  })
})

await t.test('a nullable member refers to its schema, and a title of several words is not a name', async (t) => {
  const spoken = { title: 'A sentence of a package', type: 'object', properties: {} }
  t.strictSame(madeOf({ title: 'Actor', type: ['object', 'null'], properties: {} }, spoken), {
    answers: [{ anyOf: [{ $ref: '#/components/schemas/Actor' }, { type: 'null' }] }, spoken],
    schemas: { Actor: { type: 'object', properties: {} } },
  })
})
