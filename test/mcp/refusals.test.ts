import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { answerOf, connectMcp, MCP_HEADERS, refusalOf, REVISIONS, toolCall } from '../helpers/mcp.js'

const CLOSED: FileConfig = {
  access_control: { enabled: true, default_policy: 'deny' },
  access_grants: [{ bank_id: 'team', principal: 'user:ada', permissions: ['read'] }],
}
const ADA = { 'x-service-principal': 'user:ada' }

for (const revision of REVISIONS) {
  t.test(`refusals reach the model in the revision ${revision}`, async (t) => {
    t.test('denied access', async (t) => {
      const { app } = await testApp(t, { file: CLOSED })
      const client = await connectMcp(t, app, { revision, headers: ADA })
      const result = await client.callTool({ name: 'retain', arguments: { bank_id: 'team', content: 'x' } })
      t.match(refusalOf(result), {
        code: 'access_denied', message: "Principal 'user:ada' is denied 'write' on bank 'team'", request_id: String,
      })
      t.same(answerOf(await client.callTool({ name: 'list_banks', arguments: {} })), { banks: [], next_cursor: null })
    })

    t.test('an exhausted limit, with the time until it is available again', async (t) => {
      const { app } = await testApp(t, { file: { homeostasis: { rate_limits: { retain_per_minute: 1 } } } })
      const client = await connectMcp(t, app, { revision })
      const retain = async (content: string) => (
        await client.callTool({ name: 'retain', arguments: { bank_id: 'b', content } })
      )
      answerOf(await retain('one'))
      t.match(refusalOf(await retain('two')), { code: 'rate_limited', retry_after_seconds: 60 })
    })

    t.test('invalid arguments, by their names', async (t) => {
      const { app } = await testApp(t)
      const client = await connectMcp(t, app, { revision })
      const result = await client.callTool({ name: 'recall', arguments: { bank_id: 'b', qurey: 'x', max_tokens: 0 } })
      t.match(refusalOf(result), {
        code: 'invalid_request',
        errors: [
          { field: 'query', message: 'is required' }, { field: 'qurey', message: /did you mean "query"/ },
          { field: 'max_tokens' },
        ],
      })
      t.match(
        refusalOf(await client.callTool({ name: 'retain', arguments: { bank_id: 'b', content: 'x'.repeat(50_001) } })),
        { code: 'invalid_request' },
      )
    })

    t.test('an unknown tool is a fault of the protocol', async (t) => {
      const { app } = await testApp(t)
      const client = await connectMcp(t, app, { revision })
      await t.rejects(client.callTool({ name: 'drop', arguments: {} }), { code: -32602, message: /Unknown tool: drop/ })
    })
  })
}

t.test('access is decided before the form of the arguments', async (t) => {
  const { post } = await testApp(t, { file: CLOSED })
  const response = await post('/mcp', toolCall('retain', { bank_id: 'team', content: 7 }), { ...MCP_HEADERS, ...ADA })
  t.match(refusalOf(response.json().result), { code: 'access_denied' })
})

t.test('a fault reveals nothing of its cause, which the log has under the same id', async (t) => {
  const store = new InMemoryVectorStore()
  store.search = async () => { throw new Error('secret host') }
  const { post, log } = await testApp(t, {}, { store })
  const response = await post('/mcp', toolCall('recall', { bank_id: 'b', query: 'x' }), {
    ...MCP_HEADERS, 'x-request-id': 'r1',
  })
  const refusal = refusalOf(response.json().result)
  t.match(refusal, { code: /dependency_unavailable|internal_error/, request_id: 'r1' })
  t.notMatch(JSON.stringify(refusal), /secret/)
  t.ok(log.some((line) => line['request_id'] === 'r1' && JSON.stringify(line).includes('refusals.test')))
})

t.test('an idempotency key makes a repeat return the first answer', async (t) => {
  const { post } = await testApp(t)
  const call = async (given: object, headers: Record<string, string> = {}) => (
    (await post('/mcp', toolCall('retain', { bank_id: 'b', ...given }), { ...MCP_HEADERS, ...headers })).json().result
  )
  const first = answerOf(await call({ content: 'one', idempotency_key: 'k1' }))
  t.same(answerOf(await call({ content: 'one', idempotency_key: 'k1' })), first, 'the answer again, stored: true')
  t.match(refusalOf(await call({ content: 'two', idempotency_key: 'k1' })), { code: 'idempotency_key_reused' })
  t.match(
    refusalOf(await call({ content: 'two' }, { 'idempotency-key': 'k1' })), { code: 'idempotency_key_reused' },
    'the header is the same key',
  )
  t.match(
    refusalOf(await call({ content: 'two', idempotency_key: '' })),
    { code: 'invalid_request', errors: [{ field: 'idempotency_key' }] },
  )
  const other = await post('/v1/retain', { bank_id: 'b', content: 'three' }, { 'idempotency-key': 'k1' })
  t.equal(other.statusCode, 200, 'a key of a tool is not one of a route')
})
