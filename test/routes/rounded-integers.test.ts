import t from 'tap'
import { testApp } from '../helpers/app.js'
import { answerOf, MCP_HEADERS, refusalOf } from '../helpers/mcp.js'
import { HEADER, importInto, ndjson } from './ndjson.js'
import { refused, refusedFields } from './support.js'
import { openSource, send } from './webhooks.js'

const app = await testApp(t, { file: { sources: { open: openSource() } } })
const JSON_TYPE = { 'content-type': 'application/json' }
const MESSAGE = 'is an integer that would be rounded: send it as a text'

/** POST of a body as it is on the wire, with numbers that JSON.stringify cannot write. */
const post = async (url: string, payload: string, headers = JSON_TYPE) => (
  await app.inject({ method: 'POST', url, headers, payload })
)
const retain = async (metadata: string, more = '') => (
  await post('/v1/retain', `{"bank_id":"home","content":"tea"${more},"metadata":${metadata}}`)
)

const ROUNDED = [
  '9007199254740993', '-9007199254740993', '12345678901234567890', '9223372036854775807', `1${'0'.repeat(21)}`,
  '9'.repeat(309),
]
const KEPT = [
  '9007199254740991', '9007199254740992', '-9007199254740992', '1000000000000000000', '1.10', '1e3', '1E22', '-0',
  '0.12345678901234567890', '12345678901234567.5', '"9007199254740993"', '"\\"9007199254740993"',
]

await t.test('an integer that would be rounded is refused in metadata, and any other number is kept', async (t) => {
  for (const number of ROUNDED) {
    const response = await retain(`{"a":1,"id" : ${number} }`)
    refusedFields(t, response, 'metadata.id')
    t.equal(response.json().errors[0].message, MESSAGE, number)
  }
  for (const number of KEPT) {
    const response = await retain(`{"id":${number}}`, `,"document_id":"${encodeURIComponent(number)}"`)
    t.equal(response.statusCode, 200, number)
    const { metadata } = (await app.get(`/v1/banks/home/memories/${response.json().memory_id}`)).json()
    t.same(metadata, { id: JSON.parse(number) })
  }
  refusedFields(t, await retain(`{"a":${ROUNDED[0]},"b":1,"c":${ROUNDED[1]}}`), 'metadata.a', 'metadata.c')
  refusedFields(t, await retain(`{"a":[${ROUNDED[0]}]}`), 'metadata.a')
})

await t.test('it is found wherever metadata stands, and however its name is written', async (t) => {
  const number = ROUNDED[0]!
  for (const [url, body, field] of [
    ['/v1/retain', `{"metadata":{"id":${number}},"bank_id":"b","content":"tea"}`, 'metadata.id'],
    ['/v1/retain', `\n{"\\u006detadata":\t{"i\\"d":\n${number}\n},"bank_id":"b","content":"te\\"a"}`, 'metadata.i"d'],
    [
      '/v1/retain/batch',
      `{"bank_id":"b","items":[{"content":"a"},{"content":"b","metadata":{"x":1,"id":${number}}}]}`,
      'items[1].metadata.id',
    ],
    ['/v1/recall', `{"bank_id":"b","query":"tea","metadata":{"id":${number}}}`, 'metadata.id'],
    ['/v1/ingest/webhook/open', `{"metadata":{"id":${number}},"content":"tea"}`, 'metadata.id'],
  ] as const) {
    const response = await post(url, body)
    refused(t, response, 400, 'invalid_request')
    t.match(response.json().errors, [{ message: MESSAGE }], url)
    t.equal(response.json().errors[0].field.replace(/^"|"$/g, ''), field)
  }
  const filter = encodeURIComponent(`{"id":${number}}`)
  refusedFields(t, await app.get(`/v1/banks/b/memories?metadata=${filter}`), 'metadata')
  t.equal((await app.get('/v1/banks/b')).json().memory_count, 0)
})

await t.test('an import names the line, and stores nothing', async (t) => {
  const line = (number: string) => `{"text":"note ${number}","metadata":{"id":${number}}}`
  const response = await importInto(app, 'imported', ndjson(HEADER, line('1'), line(ROUNDED[2]!)))
  refused(t, response, 400, 'invalid_request')
  t.match(response.json().errors, [{ field: 'line 3: metadata.id', message: MESSAGE }])
  t.equal((await app.get('/v1/banks/imported')).json().memory_count, 0)
  t.match((await importInto(app, 'imported', ndjson(HEADER, line('1')))).json(), { imported: 1 })
})

await t.test('a tool of the Model Context Protocol refuses it as its argument, also in a batch', async (t) => {
  const call = (id: number, number: string) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":` +
    `"retain","arguments":{"bank_id":"tools","content":"tea","metadata":{"id":${number}}}}}`
  const one = await post('/mcp', call(1, ROUNDED[0]!), MCP_HEADERS)
  t.match(refusalOf(one.json().result), {
    code: 'invalid_request', errors: [{ field: 'metadata.id', message: MESSAGE }],
  })
  const two = await post('/mcp', `[${call(1, ROUNDED[0]!)},${call(2, '7')}]`, MCP_HEADERS)
  const answers = two.json<Array<{ id: number, result: unknown }>>().sort((a, b) => a.id - b.id)
  t.match(refusalOf(answers[0]!.result), { errors: [{ field: 'metadata.id' }] })
  t.match(answerOf(answers[1]!.result), { stored: true })
})

await t.test('numbers elsewhere are no concern of it', async (t) => {
  const number = ROUNDED[3]!
  const text = `{"bank_id":"elsewhere","content":"{\\"metadata\\":{\\"id\\":${number}}}","metadata":{"${number}":1}}`
  t.equal((await post('/v1/retain', text)).statusCode, 200)
  const event = `{"content":"tea","id":${number},"items":{"metadata":{"id":${number}}},"more":{"metadata":[${number}]}}`
  t.equal((await send(app, 'open', event)).statusCode, 200)
  refusedFields(t, await retain('{"id":1}', `,"number":${number}`), 'number')
  refused(t, await retain(`{"id":0${number}}`), 400, 'invalid_json')
  refused(t, await retain(`{"id":${number}x}`), 400, 'invalid_json')
  const { hits } = (await app.post('/v1/recall', { bank_id: 'elsewhere', query: 'metadata' })).json()
  t.equal(hits.length, 1)
})

await t.test('it is found in a long body too, whose bytes belong to the caller', async (t) => {
  const items = (number: string) => Array.from({ length: 600 }, (_, index) => (
    `{"content":"${index} ${'x'.repeat(200)}","metadata":{"id":${index === 599 ? number : index}}}`
  )).join()
  const payload = Buffer.from(`{"bank_id":"long","items":[${items(ROUNDED[2]!)}]}`)
  const sent = Buffer.from(payload)
  const request = { method: 'POST', url: '/v1/retain/batch', headers: JSON_TYPE } as const
  refusedFields(t, await app.inject({ ...request, payload }), 'items[599].metadata.id')
  t.ok(payload.equals(sent))
  t.equal((await app.inject({ ...request, payload: `{"bank_id":"long","items":[${items('7')}]}` })).statusCode, 200)
})
