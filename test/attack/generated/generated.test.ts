import t from 'tap'
import { testApp } from '../../helpers/app.js'
import { casesOf } from './cases.js'
import { growthsOf } from './long-values.js'
import { around, isObject, operationsOf, SchemaReader, type Schema } from './schema-walk.js'

const schema: Schema = {
  type: 'object',
  required: ['name', 'list'],
  properties: {
    name: { type: 'string', maxLength: 3 },
    list: {
      type: 'array',
      maxItems: 2,
      items: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string', format: 'uuid' }, tags: { type: 'array', items: { type: 'string' } } },
      },
    },
    map: {
      type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/Point' }] },
    },
  },
}
const document = {
  paths: {
    '/a/{id}': {
      parameters: [{ in: 'query', name: 'shared', schema: {} }],
      post: {
        parameters: [{ in: 'query', name: 'q', schema: { type: 'string' } }, { in: 'header', name: 'h' }],
        requestBody: { content: { 'application/json': { schema } } },
      },
    },
    '/b': { get: {}, summary: 'no operation' },
  },
  components: {
    schemas: {
      Point: { type: 'object', properties: { x: { type: 'number' }, next: { $ref: '#/components/schemas/Point' } } },
    },
  },
}

await t.test('the operations are those of the OpenAPI document, with body and query', async (t) => {
  const operations = operationsOf(document)
  t.strictSame(operations.map(
    ({ method, path, body, query }) => [method, path, body?.contentType, query.map(({ name }) => name)],
  ), [
    ['POST', '/a/{id}', 'application/json', ['shared', 'q']],
    ['GET', '/b', undefined, []],
  ])
  t.throws(() => operationsOf({}), { message: /no operation/ })
})

await t.test('every member, element and value of a map can be replaced, also inside references and ' +
  'alternatives', async (t) => {
  const reader = new SchemaReader(document)
  const places = reader.places(schema).map((place) => place.join('.'))
  for (const place of [
    '', 'name', 'list', 'list.[]', 'list.[].id', 'list.[].tags', 'list.[].tags.[]', 'map', 'map.{}', 'map.{}.x',
    'map.{}.next.x',
  ]) {
    t.ok(places.includes(place), place)
  }
  t.equal(new Set(places).size, places.length)
})

await t.test('a value is put at its place in an otherwise valid request', async (t) => {
  const reader = new SchemaReader(document)
  const filled = (place: string[]) => around(reader, schema, place, { name: 'known' }).join('HERE')
  t.equal(filled([]), 'HERE')
  t.equal(filled(['name']), '{"name":HERE,"list":[{"id":"01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"}]}')
  t.equal(
    filled(['list', '[]', 'tags']),
    '{"name":"known","list":[{"id":"01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f","tags":HERE}]}',
  )
  t.equal(
    filled(['map', '{}']),
    '{"name":"known","list":[{"id":"01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"}],"map":{"member":HERE}}',
  )
})

await t.test('values stay within the limit of bytes, and lie on both sides of the bounds of the schema', async (t) => {
  const growths = growthsOf({ type: 'array', maxItems: 2, items: { type: 'string' } }, ['a'], 'a')
  const texts = new Map(growths.map(({ name, make }) => [name, make(10_000)]))
  for (const [name, text] of texts) t.ok(Buffer.byteLength(text) <= 10_100, `${name}: ${Buffer.byteLength(text)}`)
  t.equal(texts.get('2 valid elements'), '["a","a"]')
  t.equal(texts.get('3 valid elements'), '["a","a","a"]')
  t.ok(Buffer.byteLength(texts.get('list of {}') ?? '') > 9900)
  t.doesNotThrow(() => JSON.parse(texts.get('maps in maps') ?? 'x') as unknown)
  t.equal(
    growthsOf({ type: 'string', maxLength: 3 }, 'a', undefined).find(({ name }) => name === '4 characters')?.make(0),
    '"aaaa"',
  )
})

await t.test('every operation with a body or parameters is attacked, with and without rights', async (t) => {
  const { app } = await testApp(t)
  const own: unknown = (await app.inject('/openapi.json')).json()
  const cases = casesOf(own, 1)
  for (const { method, path, body, query } of operationsOf(own)) {
    if (body === undefined && query.length === 0) continue
    const names = cases.map(({ name }) => name).filter((name) => name.startsWith(`${method} ${path} `))
    t.ok(names.some((name) => name.endsWith('as user:mallory')), `${method} ${path}`)
    t.ok(names.some((name) => name.endsWith('as user:nobody')), `${method} ${path}`)
  }
  // In the first round there is one of every operation, for each caller.
  const taking = operationsOf(own).filter(({ body, query }) => body !== undefined || query.length > 0)
  t.equal(
    new Set(cases.slice(0, 2 * taking.length).map(({ name }) => name.split(' ', 2).join(' '))).size,
    new Set(taking.map(({ method, path }) => `${method} ${path}`)).size,
  )
  t.strictSame(casesOf(own, 1).map(({ name }) => name), cases.map(({ name }) => name))
  t.notSame(casesOf(own, 2).slice(0, 20).map(({ name }) => name), cases.slice(0, 20).map(({ name }) => name))
  // One of them, to see that it is a request.
  const request = cases.find(({ name }) => name === 'POST /v1/retain content: empty list, as user:mallory')?.request()
  t.match(request, { method: 'POST', path: '/v1/retain', principal: 'user:mallory' })
  const body: unknown = JSON.parse(String(request?.body))
  t.ok(isObject(body))
  t.strictSame(body, { bank_id: 'user-mallory', content: [] })
})
