import t from 'tap'
import { testApp } from '../helpers/app.js'

interface Headers {
  paths: Record<string, Record<string, { responses: Record<string, { headers: Record<string, { $ref: string }> }> }>>
  components: { headers: Record<string, { description: string, schema: object }> }
}
/** The headers of an answer that clients may read (plugins/cors.ts). */
const READABLE = [
  'content-disposition', 'etag', 'idempotent-replayed', 'ratelimit', 'ratelimit-policy', 'retry-after',
  'www-authenticate', 'x-request-id',
]

t.test('the document names the headers of every answer', async (t) => {
  const app = await testApp(t, {
    file: { homeostasis: { rate_limits: { recall_per_minute: 1 } } },
  })
  const document = (await app.get('/openapi.json')).json<Headers>()
  const key = { 'idempotency-key': 'k' }
  const query = { bank_id: 'b', query: 'tea' }
  const memory = { bank_id: 'b', content: 'tea' }
  const rates = ['ratelimit', 'ratelimit-policy']
  const answers = [
    ['post', '/v1/retain', await app.post('/v1/retain', memory, key), ['x-request-id']],
    ['post', '/v1/retain', await app.post('/v1/retain', memory, key), ['idempotent-replayed', 'x-request-id']],
    ['get', '/v1/banks/{bank_id}/config', await app.get('/v1/banks/b/config'), ['etag', 'x-request-id']],
    ['get', '/v1/banks/{bank_id}/export', await app.get('/v1/banks/b/export'), ['content-disposition', 'x-request-id']],
    ['post', '/v1/recall', await app.post('/v1/recall', query), [...rates, 'x-request-id']],
    ['post', '/v1/recall', await app.post('/v1/recall', query), [...rates, 'retry-after', 'x-request-id']],
  ] as const
  t.strictSame(answers.map(([, , { statusCode }]) => statusCode), [200, 200, 200, 200, 200, 429])
  for (const [method, path, response, expected] of answers) {
    t.strictSame(READABLE.filter((name) => name in response.headers), expected, path)
    const declared = document.paths[path]![method]!.responses[String(response.statusCode)]!.headers
    for (const name of expected) {
      t.ok(Object.keys(declared).some((header) => header.toLowerCase() === name), `${path}: ${name}`)
    }
    for (const { $ref } of Object.values(declared)) t.ok($ref.split('/').at(-1)! in document.components.headers, $ref)
  }
})

t.test('a refused credential is answered with the header that the document names', async (t) => {
  const app = await testApp(t, { auth: { mode: 'jwt_hs256', jwtSecret: 's'.repeat(32), jwtAudience: 'memory' } })
  const response = await app.post('/v1/recall', { bank_id: 'b', query: 'tea' })
  t.match(response.headers['www-authenticate'], 'Bearer')
  const document = (await app.get('/openapi.json')).json<Headers>()
  t.ok('WWW-Authenticate' in document.paths['/v1/recall']!['post']!.responses['401']!.headers)
})
