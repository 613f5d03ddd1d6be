import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { testApp } from '../helpers/app.js'
import { refused } from '../routes/support.js'

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  oneOf?: Schema[]
}

interface Document {
  paths: Record<string, Record<string, {
    parameters?: Array<{ name: string, in: string }>
    requestBody?: { content: Record<string, { schema: Schema }> }
  }>>
  components: { schemas: Record<string, Schema> }
}

const { get, inject, post } = await testApp(t)
const document = (await get('/openapi.json')).json<Document>()

async function put (url: string, body: unknown): Promise<LightMyRequestResponse> {
  return await inject({ method: 'PUT', url, payload: JSON.stringify(body), headers: JSON_TYPE })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const BANK_ID = 'must be a text of letters, digits and ._:@-, at most 255 characters, the first a letter or digit'
const INSTANT = 'must be an RFC 3339 date-time with an offset, such as 2026-01-05T09:30:00Z'
const SCALAR = 'must be a text, a number, true, false or null'
const MEMORIES = '/v1/banks/b/memories'

const bodies: Array<[url: string, field: string, value: unknown, message: string, named?: string]> = [
  ['/v1/retain', 'content', 5, 'must be a text'],
  ['/v1/retain', 'bank_id', 5, BANK_ID],
  ['/v1/retain', 'bank_id', 'a b', BANK_ID],
  ['/v1/retain', 'document_id', '', 'must be a text of 1 to 512 characters'],
  ['/v1/retain', 'document_id', 5, 'must be a text of 1 to 512 characters'],
  ['/v1/retain', 'document_id', 'x'.repeat(513), 'must be a text of 1 to 512 characters'],
  ['/v1/retain', 'tags', 'a', 'must be a list of 1 to 100 elements'],
  ['/v1/retain', 'tags', [], 'must be a list of 1 to 100 elements'],
  ['/v1/retain', 'tags', Array.from({ length: 101 }, String), 'must be a list of 1 to 100 elements'],
  ['/v1/retain', 'tags', ['a', 7], 'must be a text of 1 to 128 characters', 'tags[1]'],
  ['/v1/retain', 'metadata', 'a=b', 'must be a JSON object'],
  ['/v1/retain', 'metadata', { a: {} }, SCALAR, 'metadata.a'],
  ['/v1/retain', 'occurred_at', 0, INSTANT],
  ['/v1/retain', 'occurred_at', '2026-01-01', INSTANT],
  ['/v1/recall', 'max_results', 'x', 'must be an integer'],
  ['/v1/recall', 'max_tokens', 0, 'must be an integer of at least 1'],
  ['/v1/recall', 'max_tokens', 1.5, 'must be an integer of at least 1'],
  ['/v1/recall', 'min_score', 1.5, 'must be a number from 0 to 1'],
  ['/v1/recall', 'min_score', -1, 'must be a number from 0 to 1'],
  ['/v1/recall', 'explain', 'true', 'must be true or false'],
  ['/v1/recall', 'tags_match', 5, 'must be one of "any", "all"'],
  ['/v1/recall/explain', 'expect', 5, 'must be a UUID'],
  ['/v1/forget', 'scope', 'some', 'must be "all"'],
  ['/v1/forget', 'memory_ids', ['x'], 'must be a UUID', 'memory_ids[0]'],
]
for (const [url, field, value, message, named = field] of bodies) {
  await t.test(`${field} ${JSON.stringify(value).slice(0, 40)} in the body of ${url}`, async (t) => {
    const errors = (await post(url, { [field]: value })).json<{ errors: unknown[] }>().errors
    t.match(errors.find((error) => (error as { field: string }).field === named), { message })
  })
}

const queries: Array<[field: string, value: string, message: string]> = [
  ['limit', 'x', 'must be an integer'],
  ['limit', '1e999', 'must be an integer'],
  ['offset', '-1', 'must be an integer from 0 to 100000'],
  ['offset', '1e999', 'must be an integer from 0 to 100000'],
  ['order', 'up', 'must be one of "newest", "oldest"'],
  ['cursor', '', 'must be a text of 1 to 1024 characters'],
]
for (const [field, value, message] of queries) {
  await t.test(`the parameter ${field}=${value}`, async (t) => {
    const response = await get(`${MEMORIES}?${field}=${value}`)
    refused(t, response, 400, 'invalid_request', { detail: `${field}: ${message}`, errors: [{ field, message }] })
  })
}

await t.test('a text that matches its pattern and is too long or empty', async (t) => {
  refused(t, await get(`/v1/admin/banks?tenant_id=${'x'.repeat(513)}`), 400, 'invalid_request', {
    errors: [{ field: 'tenant_id', message: 'must be a text of 1 to 512 characters' }],
  })
  const config = { access: [{ principal: '', permissions: [] }] }
  refused(t, await put('/v1/banks/b/config', config), 400, 'invalid_request', {
    errors: [
      { field: 'access[0].principal', message: 'must be a text that is not empty' },
      { field: 'access[0].permissions', message: 'must be a list that is not empty' },
    ],
  })
})

await t.test('the body itself', async (t) => {
  for (const body of [[], 'text', 5]) {
    refused(t, await post('/v1/retain', body), 400, 'invalid_request', { detail: 'The body must be a JSON object' })
  }
})

await t.test('a line of an import', async (t) => {
  const lines = '{"format":"memory-gateway-export","version":1}\n{"text":5}\n[]\n'
  const url = '/v1/banks/b/import'
  const headers = { 'content-type': 'application/x-ndjson' }
  refused(t, await inject({ method: 'POST', url, headers, payload: lines }), 400, 'invalid_request', {
    detail: 'line 2: text: must be a text',
  })
})

/** Values that are wrong for most schemas. */
const WRONG = [true, -1e12, 1.5, 1e12, '', 'a b', 'x'.repeat(9000), {}, [], [{}], [''], { a: {} }]
const RAW = /must NOT|must match|must pass|[<>]=|must be (?:string|number|integer|boolean|array|object|equal|null)\b/

function resolved (schema: Schema): Schema {
  return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!]!
}

/** Every field of a schema; the first element of a list stands for all. */
function * fieldsOf (schema: Schema): Generator<Array<string | 0>> {
  for (const { properties = {}, items } of [schema, ...schema.oneOf ?? []].map(resolved)) {
    for (const [name, child] of Object.entries(properties)) {
      yield [name]
      for (const path of fieldsOf(resolved(child))) yield [name, ...path]
    }
    if (items !== undefined) for (const path of fieldsOf(resolved(items))) yield [0, ...path]
  }
}

function bodyWith (path: ReadonlyArray<string | 0>, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => key === 0 ? [inner] : { [key]: inner }, value)
}

await t.test('no field of the OpenAPI document has a message of the validator', async (t) => {
  let refusals = 0
  const raw = new Set<string>()
  const note = ({ statusCode, body }: LightMyRequestResponse) => {
    if (statusCode !== 400) return
    refusals += 1
    if (RAW.test(body)) raw.add(body)
  }
  for (const [path, operations] of Object.entries(document.paths)) {
    const url = path.replaceAll(/\{.*?\}/g, 'b')
    for (const [name, { parameters = [], requestBody }] of Object.entries(operations)) {
      const method = name.toUpperCase() as 'GET'
      const schema = requestBody?.content['application/json']?.schema
      for (const field of schema === undefined ? [] : fieldsOf(resolved(schema))) {
        for (const value of WRONG) {
          note(await inject({ method, url, headers: JSON_TYPE, payload: JSON.stringify(bodyWith(field, value)) }))
        }
      }
      for (const parameter of parameters.filter((parameter) => parameter.in === 'query')) {
        for (const value of ['', 'x', '-5', '1e999', '%00', 'x'.repeat(5000)]) {
          note(await inject({ method, url: `${url}?${parameter.name}=${value}` }))
        }
      }
    }
  }
  t.ok(refusals > 1000, `${refusals} refusals`)
  t.strictSame([...raw], [])
})
