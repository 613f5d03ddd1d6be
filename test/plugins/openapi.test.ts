import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { ERROR_RESPONSES, meaningOf } from '../../http/error-responses.js'
import { ERROR_CODES, type ErrorCode } from '../../lib/base/service-error.js'
import type { RouteScope } from '../../plugins/route-scopes.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import type { Content, Document, Operation } from './openapi-document.js'
import { openSource, sendJson } from '../routes/webhooks.js'
import { HEADER, importInto, ndjson } from '../routes/ndjson.js'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)

const config = { file: { sources: { shop: openSource() } } }
const app = await testApp(t, config, {}, { reloadConfig: () => testConfig(config) })
const document = (await app.get('/openapi.json')).json<Document>()
/** The schema with all that it may refer to. */
const whole = (schema: object) => ({ ...schema, components: document.components })
const operations = new Map<string, Operation>(Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)))
const routes = app.app.routeTable
  .filter(({ method, schema, url }) => schema?.hide !== true && !url.startsWith('/docs') && method !== 'HEAD')
  .map(({ method, url, config }) => ({
    name: `${String(method)} ${url.replaceAll(/:(\w+)/g, '{$1}')}`, scope: config!.scope!,
  }))

await t.test('the document is valid OpenAPI 3.1 and of this version', async (t) => {
  t.match(document.openapi, /^3\.1\./)
  const copy = structuredClone(document) as unknown as Record<string, unknown>
  t.match(await new Validator().validate(copy), { valid: true })
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  t.equal(document.info.version, version)
})

await t.test('the document has every route, and no other', async (t) => {
  t.same([...operations.keys()].sort(), routes.map(({ name }) => name).sort())
})

await t.test('every operation has an id of its own, a summary and a known tag', async (t) => {
  const ids = [...operations.values()].map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, routes.length)
  const tags = document.tags.map(({ name }) => name)
  for (const [name, operation] of operations) {
    t.match(operation.operationId, /^[a-z][A-Za-z]+$/, name)
    t.match(operation.summary, /\S/, name)
    t.ok(operation.tags.length === 1 && tags.includes(operation.tags[0]!), name)
  }
})

const callers = {
  dev: [{}, { principal: [] }],
  api_key: [{ apiKey: [], principal: [] }],
  jwt_hs256: [{ bearer: [] }],
  jwt_oidc: [{ bearer: [] }],
} as const
for (const [mode, caller] of Object.entries(callers)) {
  await t.test(`in mode ${mode} each operation requires the credentials of its scope`, async (t) => {
    const { get } = await testApp(t, { auth: { mode: mode as keyof typeof callers } })
    const { paths, components } = (await get('/openapi.json')).json<Document>()
    const expected: Record<RouteScope, unknown> = {
      memory: caller, admin: [{ adminToken: [] }], source: [{ sourceSignature: [] }, {}], public: [],
    }
    const schemes = new Set([...caller.flatMap((one) => Object.keys(one)), 'adminToken', 'sourceSignature'])
    t.same(new Set(Object.keys(components.securitySchemes)), schemes, 'no scheme of another mode')
    for (const { name, scope } of routes) {
      const [method, path] = name.split(' ') as [string, string]
      const { security } = paths[path]![method.toLowerCase()]!
      t.same(security, expected[scope], name)
      for (const scheme of security.flatMap((one) => Object.keys(one))) t.ok(scheme in components.securitySchemes)
    }
  })
}

const body = ['invalid_json', 'body_too_large', 'unsupported_media_type'] as const
const probe = ['host_not_allowed', 'shutting_down'] as const
const down = ['internal_error', 'dependency_unavailable', 'server_busy', 'too_many_requests', ...probe] as const
const caller = [
  'invalid_request', 'unauthenticated', 'access_denied', 'misconfigured', 'identity_provider_unavailable', ...down,
] as const
const repeated = ['idempotency_key_reused', 'idempotency_key_in_flight'] as const
const limits = ['rate_limited', 'quota_exceeded'] as const
const admin = ['invalid_request', 'unauthenticated', ...down] as const
const own = [
  'invalid_request', 'unauthenticated', 'internal_error', 'server_busy', 'too_many_requests', ...probe,
] as const
/** What each operation can answer with when it does not do what was asked. */
const changing = [...limits, 'precondition_failed', 'conflict', 'not_supported'] as const
const changed = [
  ...caller, ...body, ...changing, 'not_found', 'place_taken', 'higher_trust', 'not_current', 'model_output_invalid',
] as const
const decided = changed.filter((code) => !(body as readonly string[]).includes(code))
const codes: Record<string, readonly ErrorCode[]> = {
  retain: [...caller, ...body, ...repeated, ...limits, 'model_output_invalid', 'higher_trust', 'not_supported'],
  retainBatch: [...caller, ...body, ...repeated, ...limits, 'model_output_invalid', 'higher_trust', 'not_supported'],
  patchMemory: changed,
  retireMemory: changed,
  restoreMemory: changed,
  listVersions: [...caller, 'answer_too_large', 'not_found', 'not_supported'],
  redactVersion: [...caller, ...limits, 'not_found', 'not_supported'],
  listProposals: [...caller, 'not_supported'],
  acceptProposal: decided,
  dismissProposal: decided,
  undoProposal: decided,
  rollbackBank: [...caller, ...body, ...limits, 'conflict', 'not_supported', 'model_output_invalid'],
  recall: [...caller, ...body, ...limits, 'answer_too_large', 'model_output_invalid', 'not_supported'],
  explainRecall: [...caller, ...body, ...limits, 'model_output_invalid'],
  reflect: [
    ...caller, ...body, ...limits, 'answer_too_large', 'too_many_streams', 'model_output_invalid', 'overloaded',
    'deadline_exceeded', 'not_supported',
  ],
  forget: [...caller, ...body, ...repeated, ...limits],
  listBanks: caller,
  getBank: caller,
  getBankStatistics: caller,
  getBankGrowth: [...caller, 'not_supported'],
  listMemories: [...caller, 'answer_too_large', 'not_supported'],
  getMemoryNeighbours: [...caller, 'answer_too_large', 'not_found', 'not_supported'],
  getMemory: [...caller, 'answer_too_large', 'not_found'],
  appendMessages: [
    ...caller, ...body, ...repeated, ...limits, 'message_conflict', 'model_output_invalid', 'not_supported',
  ],
  listMessages: [...caller, 'answer_too_large', 'not_supported'],
  listConversations: [...caller, 'not_supported'],
  popMessages: [...caller, ...body, ...repeated, ...limits, 'answer_too_large', 'not_supported'],
  deleteConversation: [...caller, ...limits, 'not_supported'],
  getBankConfig: caller,
  getBankConfigHistory: caller,
  putBankConfig: [...caller, ...body, ...changing],
  patchBankConfig: [...caller, ...body, ...changing],
  resetBankConfig: [...caller, ...changing],
  deleteBank: [...caller, ...limits],
  adminGetBankConfig: admin,
  adminResetBankConfig: [...admin, 'not_supported'],
  reloadConfiguration: [...admin, ...body, 'configuration_invalid', 'restart_required', 'not_supported'],
  exportBank: [...caller, 'too_many_streams', 'not_supported'],
  importBank: [...caller, ...repeated, ...limits, 'body_too_large', 'unsupported_media_type', 'model_output_invalid'],
  whoami: caller,
  listSources: admin,
  getAccess: caller,
  adminGetAccess: admin,
  adminGetAccessRules: admin,
  adminCheckAccess: [...admin, ...body],
  adminGetHistory: own,
  adminGetStatus: own,
  adminListBanks: admin,
  adminGetBank: [...admin, 'not_found'],
  ingestWebhook: [
    'invalid_request', 'unauthenticated', 'access_denied', 'not_found', 'model_output_invalid', ...body, ...limits,
    ...down,
  ],
  live: probe,
  healthLive: probe,
  health: ['dependency_unavailable', ...probe],
}

for (const [name, operation] of operations) {
  await t.test(`${name} documents every error that it can answer with, under its status`, async (t) => {
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400)
    const documented = refusals.flatMap(([status, { content }]) => {
      const { schema, examples = {} } = content!['application/json']!
      t.same(schema, { $ref: '#/components/schemas/Error' })
      return Object.keys(examples).map((code) => `${status} ${code}`)
    })
    t.same(
      documented.sort(),
      (codes[operation.operationId] ?? []).map((code) => `${ERROR_RESPONSES[code].status} ${code}`).sort(),
    )
    t.ok('200' in operation.responses)
  })
}

await t.test('the answer to an unknown query parameter has a status that the operation documents', async (t) => {
  for (const [name, { responses }] of operations) {
    const [method, path] = name.split(' ') as ['GET', string]
    const url = `${path.replaceAll(/\{\w+\}/g, 'name')}?unknown=1`
    const { statusCode } = await app.app.inject({ method, url })
    t.ok(String(statusCode) in responses, `${name} answers ${statusCode}`)
  }
})

await t.test('every code of the table is listed with its meaning', async (t) => {
  const schema = document.components.schemas['ErrorCode'] as { description: string, enum: string[] }
  t.same(schema.enum, Object.keys(ERROR_CODES))
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const meaning = meaningOf(code)
    t.ok(schema.description.includes(`\`${code}\`: ${meaning}`), code)
    t.match(document.components.examples[code], { summary: meaning, value: { code } })
  }
})

await t.test('every example satisfies its schema', async (t) => {
  let checked = 0
  const check = (schema: object, example: unknown, where: string) => {
    checked++
    t.ok(ajv.validate(whole(schema), example), `${where}: ${ajv.errorsText()}`)
  }
  const walk = (node: unknown, where: string): void => {
    if (typeof node !== 'object' || node === null) return
    const { schema, example, examples } = node as Content & { examples?: unknown }
    if (schema !== undefined && example !== undefined) check(schema, example, where)
    if (Array.isArray(examples)) for (const one of examples as unknown[]) check(node, one, where)
    else if (schema !== undefined &&
      examples !== undefined) {
      for (const { $ref = '' } of Object.values(examples)) {
        check(
          schema, document.components.examples[$ref.split('/').at(-1)!]!.value, where,
        )
      }
    }
    for (const [key, member] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') walk(member, `${where}/${key}`)
    }
  }
  walk(document, '')
  t.ok(checked > 100)
})

await t.test('the service accepts the example of every JSON request', async (t) => {
  const answered: Record<string, number> = {}
  const memoryId = await app.retain('user-alice', 'Alice prefers coffee.')
  for (const [name, { requestBody, operationId }] of operations) {
    const content = requestBody?.content['application/json']
    if (content === undefined) continue
    t.ok(content.example !== undefined, `${name} has an example`)
    const path = name.split(' ')[1]!.replace('{source_id}', 'shop')
    const [method] = name.split(' ') as ['POST' | 'PUT' | 'PATCH']
    answered[operationId] = (await app.inject({
      method,
      url: path.replace('{bank_id}', 'user-alice').replace('{memory_id}', memoryId)
        .replace('{conversation_id}', 'talk'),
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(content.example),
    })).statusCode
  }
  const all = [
    'retain', 'retainBatch', 'recall', 'explainRecall', 'reflect', 'forget', 'putBankConfig', 'patchBankConfig',
    'appendMessages', 'popMessages', 'patchMemory', 'retireMemory', 'restoreMemory', 'rollbackBank',
    'adminCheckAccess', 'reloadConfiguration', 'ingestWebhook',
  ]
  t.same(answered, Object.fromEntries(all.map((id) => [id, 200])))
})

await t.test('the answers of the service satisfy the document', async (t) => {
  const { get, post, retain } = app
  const id = await retain('shown', 'Alice drinks tea. '.repeat(200), {
    tags: ['a'], metadata: { n: 1, none: null }, occurred_at: '2025-01-01T00:00:00Z',
  })
  await app.inject({
    method: 'PUT', url: '/v1/banks/proposing/config', payload: { signal_quality: { proposals: { mode: 'propose' } } },
  })
  await retain('proposing', 'I live in Rome.', { speaker: 'Ada' })
  await retain('proposing', 'I live in Milan now.', { speaker: 'Ada' })
  const [proposal] = (await get('/v1/banks/proposing/proposals')).json<{ proposals: Array<{ id: string }> }>().proposals
  const decideOn = async (verb: string) => await post(`/v1/banks/proposing/proposals/${proposal!.id}/${verb}`, {})
  const decisions = {
    'POST /v1/banks/{bank_id}/proposals/{proposal_id}/accept': await decideOn('accept'),
    'POST /v1/banks/{bank_id}/proposals/{proposal_id}/undo': await decideOn('undo'),
    'POST /v1/banks/{bank_id}/proposals/{proposal_id}/dismiss': await decideOn('dismiss'),
  }
  const answers = {
    ...decisions,
    'POST /v1/retain': await post('/v1/retain', { bank_id: 'shown', content: 'Bob.' }),
    'POST /v1/retain/batch': await post('/v1/retain/batch', {
      bank_id: 'shown', items: [{ content: 'Carol.' }, { content: 'Bob.' }],
    }),
    'POST /v1/recall': await post('/v1/recall', { bank_id: 'shown', query: 'tea', explain: true }),
    'POST /v1/recall/explain': await post('/v1/recall/explain', { bank_id: 'shown', query: 'tea in 2025', expect: id }),
    'POST /v1/reflect': await post('/v1/reflect', { bank_id: 'shown', query: 'tea' }),
    'POST /v1/forget': await post('/v1/forget', { bank_id: 'shown', tags: ['a'], dry_run: true }),
    'GET /v1/banks': await get('/v1/banks?limit=1'),
    'GET /v1/banks/{bank_id}': await get('/v1/banks/shown'),
    'PUT /v1/banks/{bank_id}/config': await app.inject({
      method: 'PUT', url: '/v1/banks/shown/config', payload: { mission: 'Be brief.' },
    }),
    'PATCH /v1/banks/{bank_id}/config': await app.inject({
      method: 'PATCH', url: '/v1/banks/shown/config', payload: { description: 'Shown.' },
    }),
    'GET /v1/banks/{bank_id}/config': await get('/v1/banks/shown/config'),
    'DELETE /v1/banks/{bank_id}/config': await app.inject({ method: 'DELETE', url: '/v1/banks/shown/config' }),
    'GET /v1/banks/{bank_id}/config/history': await get('/v1/banks/shown/config/history'),
    'DELETE /v1/banks/{bank_id}': await app.inject({ method: 'DELETE', url: '/v1/banks/gone' }),
    'GET /v1/admin/banks/{bank_id}/config': await get('/v1/admin/banks/shown/config'),
    'DELETE /v1/admin/banks/{bank_id}/config': await app.inject({
      method: 'DELETE', url: '/v1/admin/banks/shown/config',
    }),
    'POST /v1/admin/reload': await app.post('/v1/admin/reload', {}),
    'GET /v1/banks/{bank_id}/stats': await get('/v1/banks/shown/stats'),
    'GET /v1/banks/{bank_id}/growth': await get('/v1/banks/shown/growth?days=3'),
    'GET /v1/banks/{bank_id}/memories': await get('/v1/banks/shown/memories?limit=1&total=true'),
    'GET /v1/banks/{bank_id}/memories/{memory_id}/neighbours': await get(`/v1/banks/shown/memories/${id}/neighbours`),
    'GET /v1/banks/{bank_id}/memories/{memory_id}': await get(`/v1/banks/shown/memories/${id}`),
    'PATCH /v1/banks/{bank_id}/memories/{memory_id}': await app.inject({
      method: 'PATCH',
      url: `/v1/banks/shown/memories/${id}`,
      payload: { key: 'alice/drink', valid_from: '2025-01-01T00:00:00Z' },
    }),
    'POST /v1/banks/{bank_id}/memories/{memory_id}/retire': await post(
      `/v1/banks/shown/memories/${id}/retire`, { reason: 'other' },
    ),
    'POST /v1/banks/{bank_id}/memories/{memory_id}/restore': await post(
      `/v1/banks/shown/memories/${id}/restore`, {},
    ),
    'POST /v1/banks/{bank_id}/memories/{memory_id}/versions/{version}/redact': await post(
      `/v1/banks/shown/memories/${id}/versions/1/redact`, {},
    ),
    'GET /v1/banks/{bank_id}/memories/{memory_id}/versions': await get(`/v1/banks/shown/memories/${id}/versions`),
    'GET /v1/banks/{bank_id}/proposals': await get('/v1/banks/proposing/proposals?state=dismissed'),
    'POST /v1/banks/{bank_id}/rollback': await post('/v1/banks/shown/rollback', { to: '2026-01-15T00:00:00Z' }),
    'POST /v1/banks/{bank_id}/conversations/{conversation_id}/messages': await post(
      '/v1/banks/shown/conversations/talk/messages',
      { messages: [{ role: 'user', content: 'One.' }, { role: 'tool', content: '2' }, { role: 'ai', content: '2' }] },
    ),
    'GET /v1/banks/{bank_id}/conversations': await get('/v1/banks/shown/conversations'),
    'GET /v1/banks/{bank_id}/conversations/{conversation_id}/messages': await get(
      '/v1/banks/shown/conversations/talk/messages?limit=1',
    ),
    'POST /v1/banks/{bank_id}/conversations/{conversation_id}/pop': await post(
      '/v1/banks/shown/conversations/talk/pop', { count: 1 },
    ),
    'DELETE /v1/banks/{bank_id}/conversations/{conversation_id}': await app.inject({
      method: 'DELETE', url: '/v1/banks/shown/conversations/talk',
    }),
    'POST /v1/banks/{bank_id}/import': await importInto(app, 'shown', ndjson(HEADER, { text: 'Dan.' })),
    'GET /v1/whoami': await get('/v1/whoami?bank_id=shown'),
    'GET /v1/admin/sources': await get('/v1/admin/sources'),
    'GET /v1/admin/history': await get('/v1/admin/history'),
    'GET /v1/admin/status': await get('/v1/admin/status'),
    'GET /v1/access': await get('/v1/access'),
    'GET /v1/admin/access': await get('/v1/admin/access'),
    'GET /v1/admin/access/rules': await get('/v1/admin/access/rules'),
    'POST /v1/admin/access/check': await post('/v1/admin/access/check', { bank_id: 'shown', permission: 'read' }),
    'GET /v1/admin/banks': await get('/v1/admin/banks'),
    'GET /v1/admin/banks/{bank_id}': await get('/v1/admin/banks/shown'),
    'POST /v1/ingest/webhook/{source_id}': await sendJson(app, 'shop', { content: 'An event.' }),
    'GET /live': await get('/live'),
    'GET /health/live': await get('/health/live'),
    'GET /health': await get('/health'),
  }
  t.same(Object.keys(answers).concat('GET /v1/banks/{bank_id}/export').sort(), [...operations.keys()].sort())
  for (const [name, response] of Object.entries(answers)) {
    t.equal(response.statusCode, 200, name)
    t.ok(
      ajv.validate(
        whole(operations.get(name)!.responses['200']!.content!['application/json']!.schema!), response.json(),
      ),
      `${name}: ${ajv.errorsText()}`,
    )
  }
})

await t.test('export and import use NDJSON', async (t) => {
  t.same(
    Object.keys(operations.get('GET /v1/banks/{bank_id}/export')!.responses['200']!.content!), ['application/x-ndjson'],
  )
  t.same(Object.keys(operations.get('POST /v1/banks/{bank_id}/import')!.requestBody!.content), ['application/x-ndjson'])
})

await t.test('every operation that accepts an Idempotency-Key documents it', async (t) => {
  const taking = [...operations.values()].filter(({ parameters = [] }) => parameters.some(({ name }) => (
    name === 'idempotency-key'
  )))
  t.same(taking.map(({ operationId }) => operationId).sort(), [
    'appendMessages', 'forget', 'importBank', 'popMessages', 'retain', 'retainBatch',
  ])
})

await t.test('/docs shows the document in a readable form', async (t) => {
  for (const path of ['/docs', '/docs/']) {
    const response = await app.get(path)
    t.equal(response.statusCode, 200)
    t.match(response.headers['content-type'], /^text\/html/)
    t.match(response.body, /swagger-ui/)
  }
  t.equal((await app.get('/docs/static/swagger-ui.css')).statusCode, 200)
})
