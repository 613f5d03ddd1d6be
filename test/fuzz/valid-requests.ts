import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { JsonValue } from './odd-values.js'

/** A request in parts, so that each can be mutated by itself. */
export interface RequestParts {
  method: string
  /** With `:name` where a parameter goes. */
  path: string
  params: Record<string, string>
  query: Array<[name: string, value: string]>
  headers: Record<string, string>
  /** JSON, or a text that is sent unchanged; undefined for no body. */
  body?: JsonValue | { text: string }
}

export const ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
export const BANKS = ['user-bob', 'limited', 'a.b:c@d-e_f']
const JSON_TYPE = { 'content-type': 'application/json' }
const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' }
const LINE = {
  memory_id: ID,
  text: 'Read back.',
  tags: ['a'],
  metadata: { n: 1 },
  occurred_at: '2025-01-01T00:00:00Z',
  retained_at: '2025-02-01T00:00:00Z',
  expires_at: null,
  document_id: 'd',
  source: 's',
}
const ITEM: JsonValue = {
  content: 'The otter sleeps.',
  tags: ['a', 'b'],
  metadata: { k: 'v', n: 1, b: true, z: null },
  occurred_at: '2025-01-01T00:00:00+01:00',
  document_id: 'd',
  source: 's',
  expires_at: '2999-01-01T00:00:00Z',
}

const CONFIG: JsonValue = {
  description: 'The otters.',
  mission: 'Be brief.',
  homeostasis: { recall_max_tokens: 500, rate_limits: { retain_per_minute: 5 } },
  barriers: { metadata: { blocked_keys: ['ssn'] } },
  signal_quality: { dedup: { action: 'warn' } },
  retrieval: { bm25: { k1: '1.2' } },
  reflect: { max_evidence: 3 },
}

type Body = NonNullable<RequestParts['body']>
type Sample = Pick<RequestParts, 'query' | 'headers'> & { body?: Body }

const sample = (
  query: RequestParts['query'] = [], headers: RequestParts['headers'] = {}, body?: Body,
): Sample => ({ query, headers, ...(body !== undefined && { body }) })
const json = (body: Body, headers: RequestParts['headers'] = {}) => sample([], { ...JSON_TYPE, ...headers }, body)

/** Requests that each route answers with 2xx (or 404 where it looks for one thing), with every field that it knows. */
const SAMPLES: Record<string, Sample[]> = {
  'POST /v1/retain': [
    json({ bank_id: 'user-bob', ...ITEM }), json({ bank_id: 'limited', content: 'x' }, { 'idempotency-key': 'k' }),
  ],
  'POST /v1/retain/batch': [
    json({ bank_id: 'user-bob', items: [ITEM, { content: 'Two.' }] }, { 'idempotency-key': 'k' }),
  ],
  'POST /v1/recall': [
    json({
      bank_id: 'user-bob',
      query: 'otter',
      max_results: 5,
      max_tokens: 100,
      tags: ['a'],
      tags_match: 'all',
      document_ids: ['d'],
      speakers: ['user'],
      metadata: { k: 'v' },
      occurred_after: '2020-01-01T00:00:00Z',
      occurred_before: '2030-01-01T00:00:00Z',
      as_of: '2030-01-01T00:00:00Z',
      reference_time: '2024-02-29T23:59:59Z',
      min_score: 0.1,
      strategies: ['lexical'],
      explain: true,
    }),
    json({ banks: ['user-bob', 'bob'], query: 'otter', max_results: '7' }),
  ],
  'POST /v1/recall/explain': [
    json({
      bank_id: 'user-bob',
      query: 'otter',
      expect: ID,
      max_results: 5,
      max_tokens: 100,
      tags: ['a'],
      tags_match: 'all',
      metadata: { k: 'v' },
      occurred_after: '2020-01-01T00:00:00Z',
      occurred_before: '2030-01-01T00:00:00Z',
      as_of: '2030-01-01T00:00:00Z',
      reference_time: '2024-02-29T23:59:59Z',
      min_score: 0.1,
    }),
  ],
  'POST /v1/reflect': [
    json({
      bank_id: 'user-bob',
      query: 'Where does the otter sleep?',
      max_tokens: 50,
      tags: ['a'],
      tags_match: 'any',
      reference_time: '2024-02-29T23:59:59Z',
      include_sources: false,
    }),
    json({ banks: ['bob'], query: 'otter' }),
  ],
  'POST /v1/forget': [
    json({ bank_id: 'user-bob', memory_ids: [ID], dry_run: true }),
    json({ bank_id: 'user-bob', tags: ['a'], tags_match: 'all' }, { 'idempotency-key': 'k' }),
    json({ bank_id: 'user-bob', scope: 'all' }),
    json({
      bank_id: 'user-bob',
      tags: ['a'],
      document_ids: ['d'],
      speakers: ['user'],
      metadata: { k: 'v' },
      occurred_after: '2020-01-01T00:00:00Z',
      occurred_before: '2030-01-01T00:00:00Z',
      retained_after: '2020-01-01T00:00:00Z',
      retained_before: '2030-01-01T00:00:00Z',
    }),
  ],
  'PATCH /v1/banks/:bank_id/memories/:memory_id': [
    json({
      content: 'Ada feeds the otter.',
      tags: ['a'],
      metadata: { k: null },
      speaker: null,
      occurred_at: '2025-01-01T00:00:00Z',
      key: 'ada/otter',
      valid_from: '2025-01-01T00:00:00Z',
      valid_until: null,
      reason: 'why',
    }, { 'if-match': '"1"' }),
    sample([], { 'content-type': 'application/merge-patch+json' }, { tags: null }),
  ],
  'POST /v1/banks/:bank_id/memories/:memory_id/retire': [
    json({ reason: 'superseded', by: ID.replace(/.$/, '0'), note: 'why' }),
    json({ reason: 'other' }, { 'if-match': '"1"' }),
  ],
  'POST /v1/banks/:bank_id/memories/:memory_id/restore': [json({ note: 'why' }, { 'if-match': '*' })],
  'POST /v1/banks/:bank_id/memories/:memory_id/versions/:version/redact': [json({})],
  'POST /v1/banks/:bank_id/rollback': [json({ to: '2026-01-01T00:00:00Z', dry_run: true })],
  'POST /v1/banks/:bank_id/proposals/:proposal_id/accept': [json({})],
  'POST /v1/banks/:bank_id/proposals/:proposal_id/dismiss': [json({})],
  'POST /v1/banks/:bank_id/proposals/:proposal_id/undo': [json({})],
  'GET /v1/banks/:bank_id/proposals': [sample([['limit', '5'], ['state', 'accepted']])],
  'GET /v1/banks/:bank_id/memories/:memory_id/versions': [sample()],
  'GET /v1/banks/:bank_id/export': [sample([['versions', 'true']])],
  'POST /v1/banks/:bank_id/conversations/:conversation_id/messages': [
    json({
      messages: [
        {
          id: 'm1',
          role: 'user',
          content: 'Ada feeds the otter.',
          name: 'Ada',
          created_at: '2025-01-01T00:00:00Z',
          metadata: { k: 'v' },
        },
        { role: 'assistant', content: [{ type: 'text', text: 'When?' }], tool_calls: [{}] },
        { role: 'tool', content: '{}', tool_call_id: 'c' },
      ],
    }, { 'idempotency-key': 'k' }),
  ],
  'POST /v1/banks/:bank_id/conversations/:conversation_id/pop': [json({ count: 2 })],
  'POST /v1/banks/:bank_id/import': [
    sample([['on_conflict', 'overwrite']], { ...NDJSON_TYPE, 'idempotency-key': 'k' }, {
      text: [{ format: 'memory-gateway-export', version: 1 }, LINE].map((line) => JSON.stringify(line)).join('\n'),
    }),
  ],
  'POST /v1/ingest/webhook/:source_id': [
    json({ content: 'An event.', tags: ['a'], metadata: { k: 1 }, occurred_at: '2025-01-01T00:00:00Z', more: {} }),
  ],
  'GET /v1/banks': [sample([['limit', '5']])],
  'GET /v1/banks/:bank_id/growth': [sample([['days', '3'], ['until', '2026-01-31']])],
  'GET /v1/banks/:bank_id/conversations': [sample([['limit', '5']])],
  'GET /v1/banks/:bank_id/conversations/:conversation_id/messages': [
    sample([['limit', '5'], ['before', Buffer.from(JSON.stringify([1, ID])).toString('base64url')]]),
    sample([['after', Buffer.from(JSON.stringify([1, ID])).toString('base64url')]]),
  ],
  'DELETE /v1/banks/:bank_id/conversations/:conversation_id': [sample()],
  'GET /v1/banks/:bank_id/memories': [
    sample([
      ['limit', '5'], ['tags', 'a'], ['tags', 'b'], ['tags_match', 'any'],
      ['cursor', Buffer.from(JSON.stringify([1, ID])).toString('base64url')],
    ]),
    sample([
      ['metadata', '{"k":"v"}'], ['occurred_after', '2020-01-01T00:00:00Z'],
      ['occurred_before', '2030-01-01T00:00:00Z'], ['retained_after', '2020-01-01T00:00:00Z'],
      ['retained_before', '2030-01-01T00:00:00Z'], ['document_id', 'd'], ['min_trust', 'untrusted'],
      ['trust', 'trusted'], ['order', 'oldest'], ['offset', '1'], ['total', 'true'],
    ]),
  ],
  'GET /v1/banks/:bank_id/memories/:memory_id/neighbours': [sample([['before', '2'], ['after', '3']])],
  'PUT /v1/banks/:bank_id/config': [json(CONFIG), json({}, { 'if-match': '*' })],
  'PATCH /v1/banks/:bank_id/config': [
    json({ description: null, mission: 'Be long.' }),
    sample([], { 'content-type': 'application/merge-patch+json' }, { homeostasis: { recall_max_tokens: 400 } }),
  ],
  'DELETE /v1/banks/:bank_id/config': [sample()],
  'DELETE /v1/banks/:bank_id': [sample()],
  'GET /v1/whoami': [sample([['bank_id', 'user-bob']])],
  'GET /v1/admin/banks/:bank_id/config': [sample([['tenant_id', 'acme']])],
  'DELETE /v1/admin/banks/:bank_id/config': [sample()],
  'POST /v1/admin/reload': [json({})],
  'GET /v1/admin/history': [sample([['since', '2026-01-01T00:00:00Z']])],
  'GET /v1/admin/status': [sample()],
  'GET /v1/access': [sample([['limit', '5']])],
  'GET /v1/admin/access': [
    sample([['principal', 'user:bob'], ['tenant_id', 'acme'], ['on_behalf_of', 'user:eve'], ['limit', '5']]),
  ],
  'GET /v1/admin/access/rules': [sample()],
  'POST /v1/admin/access/check': [
    json({
      principal: 'user:bob', tenant_id: 'acme', on_behalf_of: 'user:eve', bank_id: 'user-bob', permission: 'read',
    }),
  ],
  'GET /v1/admin/banks': [sample([['tenant_id', 'acme']])],
  'GET /v1/admin/banks/:bank_id': [sample([['tenant_id', 'acme']])],
}
const PLAIN = [
  '/live', '/health/live', '/health', '/v1/banks/:bank_id', '/v1/banks/:bank_id/config',
  '/v1/banks/:bank_id/config/history', '/v1/banks/:bank_id/stats', '/v1/banks/:bank_id/memories/:memory_id',
  '/v1/banks/:bank_id/export', '/v1/admin/sources',
]

/**
 * A valid request, or several, for every route that the app has, the documentation's own files left out.
 * @throws when there is a route that has none here
 */
export function validRequests (app: FastifyInstance): RequestParts[] {
  const served = app.routeTable.filter(({ config, schema }) => config?.anyMethod !== true && !isRefusal(schema))
  return served.flatMap(({ method, url }) => {
    const methods: HTTPMethods[] = [method].flat()
    return methods.flatMap((name) => samplesOf(name, url).map((found): RequestParts => ({
      method: name,
      path: url,
      params: {
        bank_id: 'user-bob',
        memory_id: ID,
        source_id: 'hook',
        conversation_id: 'talk',
        proposal_id: ID,
        version: '1',
      },
      ...found,
    })))
  })
}

function samplesOf (method: string, url: string): Sample[] {
  const found = SAMPLES[`${method === 'HEAD' ? 'GET' : method} ${url}`] ??
    (PLAIN.includes(url) ? [sample()] : undefined)
  if (found === undefined) throw new Error(`${method} ${url} has no valid request to start from`)
  return found
}

/** The routes that answer 405 have no operation, and neither has the document itself. */
function isRefusal (schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'hide' in schema && !('operationId' in schema)
}
