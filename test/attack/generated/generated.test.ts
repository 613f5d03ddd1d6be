import t from 'tap'
import { testApp } from '../../helpers/app.js'
import { casesOf } from './cases.js'
import { MAX_HEADER_BYTES } from '../../../plugins/auth/bearer.js'
import { MAX_CONTENT_LENGTH } from '../texts.js'
import { growthsOf } from './long-values.js'
import { around, isObject, operationsOf, SchemaReader, type Schema } from './schema-walk.js'
import { valuesWithinBounds, type PlaceToFill } from './within-bounds.js'

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
        parameters: [
          { in: 'query', name: 'q', schema: { type: 'string' } }, { in: 'header', name: 'h' },
          { in: 'path', name: 'id', schema: { type: 'string' } },
        ],
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
    ({ method, path, body, query, headers, pathParameters }) => [
      method, path, body?.contentType, ...[query, headers, pathParameters].map((list) => list.map(({ name }) => name)),
    ],
  ), [
    ['POST', '/a/{id}', 'application/json', ['shared', 'q'], ['h'], ['id']],
    ['GET', '/b', undefined, [], [], []],
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

await t.test('values within the bounds are as large as the bounds allow', async (t) => {
  const texts = (place: Partial<PlaceToFill>) => new Map(valuesWithinBounds({
    schema: {}, sample: 'a', element: undefined, elementSchema: {}, isWhole: false, ...place,
  }, 1).map(({ name, make }) => [name, make(1_000_000)]))
  const read = (text: string | undefined) => JSON.parse(text ?? 'missing') as unknown

  const bounded = texts({ schema: { type: 'string', maxLength: 300 } })
  t.equal(String(read(bounded.get('300 characters of words'))).length, 300)
  t.equal(String(read(bounded.get('299 characters of words'))).length, 299)
  t.equal(String(read(bounded.get('300 quotes'))).length, 300)
  for (const [name, text] of bounded) t.ok(String(read(text)).length <= 300, name)
  const free = texts({ schema: { type: 'string' } })
  t.equal(String(read(free.get(`${MAX_CONTENT_LENGTH} characters of dates`))).length, MAX_CONTENT_LENGTH)
  t.equal(String(read(free.get('250000 characters of words'))).length, 250_000)
  t.equal(texts({ schema: { type: 'string', enum: ['a'] } }).size, 0, 'a choice cannot be long')

  const list = texts({ schema: { type: 'array', maxItems: 3 }, element: { content: 'a', tags: ['a'] } })
  t.strictSame(
    read(list.get('2 different elements')), [{ content: 'a0', tags: ['a0'] }, { content: 'a1', tags: ['a1'] }],
  )
  t.equal((read(list.get('3 different elements')) as unknown[]).length, 3)
  const long = read(list.get('3 elements that are as long as fits')) as Array<{ content: string }>
  t.strictSame(long.map(({ content }) => content.length), [50_000, 50_000, 50_000])
  const ids = texts({ schema: { type: 'array' }, element: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f' })
  t.equal(new Set(read(ids.get('10000 different elements')) as unknown[]).size, 10_000)
  const values = texts({ schema: { type: 'array' }, element: Array.from({ length: 99 }, () => 1) })
  t.ok(values.has('999 different elements'), 'all values together are within their bound')

  const map = texts({ schema: { type: 'object', additionalProperties: true } })
  t.equal(Object.keys(read(map.get('9999 members with a text')) as object).length, 9999)
  const whole = texts({ sample: { a: 1 }, isWhole: true }).get('white space up to the limit of a body')
  t.equal(whole?.length, 1_000_000)
  t.strictSame(read(whole), { a: 1 })
})

await t.test('URLs and headers are as long as the server reads them, and longer than it allows', async (t) => {
  const cases = new Map(casesOf(document, 1).map(({ name, request }) => [name, request]))
  const made = (name: string) => cases.get(`${name}, as user:mallory`)?.()
  const longest = made('POST /a/{id} ?q: long')!.path.length
  t.ok(longest < MAX_HEADER_BYTES && longest > MAX_HEADER_BYTES - 1100, `${longest}`)
  t.equal(made('POST /a/{id} {id}: 1024 letters')?.path, `/a/${'a'.repeat(1024)}`)
  t.equal(made('POST /a/{id} {id}: %00')?.path, '/a/a%00')
  t.match(made('POST /a/{id} {id}: %00')?.body, /"name"/, 'the rest of the request is valid')
  t.equal(String(made('POST /a/{id} with h: 256 letters')?.headers?.['h']).length, 256)
  t.ok(String(made('GET /b with accept: ranges')?.headers?.['accept']).length > MAX_HEADER_BYTES - 1100)
  t.equal(made('GET /b with one header 2500 times')?.headers?.['h']?.length, 2500)
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
  // In the first round there is one of every operation, for the owner, and for the other where there is something to
  // fill besides heads.
  const all = operationsOf(own)
  const taking = all.filter(({ body, query }) => body !== undefined || query.length > 0)
  t.equal(
    new Set(cases.slice(0, all.length + taking.length).map(({ name }) => name.split(' ', 2).join(' '))).size,
    new Set(all.map(({ method, path }) => `${method} ${path}`)).size,
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
