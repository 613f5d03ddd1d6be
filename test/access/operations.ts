import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { PROTOCOL_OPERATIONS } from './protocol-operations.js'
import { routeOutcome, type Operation, type Outcome } from './operation.js'

const json = (url: string, payload: Record<string, unknown>): InjectOptions => ({ method: 'POST', url, payload })
const get = (bank: string, rest = ''): InjectOptions => ({
  method: 'GET', url: `/v1/banks/${encodeURIComponent(bank)}${rest}`,
})

const configure = (
  method: 'PUT' | 'PATCH' | 'DELETE', bank: string, payload?: Record<string, unknown>,
): InjectOptions => (
  { method, url: `/v1/banks/${encodeURIComponent(bank)}/config`, ...(payload !== undefined && { payload }) }
)

const memoryUrl = (bank: string, id: string) => `/v1/banks/${encodeURIComponent(bank)}/memories/${id}`

/** Of an operation on what no seed has: who may do it learns with this status that it is not there. */
const allowedWith = (status: number) => (response: LightMyRequestResponse): Outcome => (
  response.statusCode === status ? { status: 200 } : routeOutcome(response)
)

const HEADER = { format: 'memory-gateway-export', version: 1 }

/** The content of a bank in the form of an import. */
export function exportOf (memories: ReadonlyArray<Record<string, unknown>>): string {
  return [HEADER, ...memories].map((line) => JSON.stringify(line)).join('\n')
}

export const ROUTE_OPERATIONS: readonly Operation[] = [
  {
    name: 'retain',
    needs: 'w',
    writes: true,
    request: (bank) => json('/v1/retain', { bank_id: bank, content: 'Something new.' }),
  },
  {
    name: 'batch',
    needs: 'w',
    writes: true,
    request: (bank) => json('/v1/retain/batch', { bank_id: bank, items: [{ content: 'One.' }, { content: 'Two.' }] }),
  },
  {
    name: 'replace a document',
    needs: 'wf',
    writes: true,
    request: (bank) => json('/v1/retain', {
      bank_id: bank, content: 'Something new.', document_id: 'diary', replace_document: true,
    }),
  },
  {
    name: 'recall',
    needs: 'r',
    writes: false,
    request: (bank) => json('/v1/recall', { bank_id: bank, query: 'otter river' }),
  },
  {
    name: 'recall of several banks',
    needs: 'r',
    writes: false,
    request: (bank) => json('/v1/recall', { banks: [bank, bank], query: 'otter river' }),
  },
  {
    name: 'explain a recall',
    needs: 'r',
    writes: false,
    request: (bank, { kept }) => json('/v1/recall/explain', { bank_id: bank, query: 'otter river', expect: kept }),
  },
  {
    name: 'reflect',
    needs: 'r',
    writes: false,
    request: (bank) => json('/v1/reflect', { bank_id: bank, query: 'Where does the otter sleep?' }),
  },
  {
    name: 'forget by id',
    needs: 'f',
    writes: true,
    request: (bank, { dropped }) => json('/v1/forget', { bank_id: bank, memory_ids: [dropped] }),
  },
  {
    name: 'forget by tag',
    needs: 'f',
    writes: true,
    request: (bank) => json('/v1/forget', { bank_id: bank, tags: ['drop'] }),
  },
  {
    name: 'forget by filters',
    needs: 'f',
    writes: true,
    request: (bank) => json('/v1/forget', {
      bank_id: bank,
      document_ids: ['diary'],
      speakers: ['Ada'],
      metadata: { place: 'river' },
      retained_after: '2000-01-01T00:00:00Z',
    }),
  },
  {
    name: 'dry run of forget by tag',
    needs: 'f',
    writes: false,
    request: (bank) => json('/v1/forget', { bank_id: bank, tags: ['keep'], dry_run: true }),
  },
  {
    name: 'forget all',
    needs: 'a',
    writes: true,
    request: (bank) => json('/v1/forget', { bank_id: bank, scope: 'all' }),
  },
  { name: 'export', needs: 'a', writes: false, request: (bank) => get(bank, '/export') },
  {
    name: 'import',
    needs: 'a',
    writes: true,
    request: (bank) => ({
      method: 'POST',
      url: `/v1/banks/${encodeURIComponent(bank)}/import`,
      headers: { 'content-type': 'application/x-ndjson' },
      payload: exportOf([{ text: 'Brought in.' }]),
    }),
  },
  { name: 'list memories', needs: 'r', writes: false, request: (bank) => get(bank, '/memories') },
  { name: 'get a memory', needs: 'r', writes: false, request: (bank, { kept }) => get(bank, `/memories/${kept}`) },
  {
    name: 'neighbours of a memory',
    needs: 'r',
    writes: false,
    request: (bank, { kept }) => get(bank, `/memories/${kept}/neighbours`),
  },
  {
    name: 'change a memory',
    needs: 'w',
    writes: true,
    request: (bank, { kept }) => ({
      method: 'PATCH', url: memoryUrl(bank, kept), payload: { content: 'Something new.' },
    }),
  },
  {
    name: 'retire a memory',
    needs: 'w',
    writes: true,
    request: (bank, { kept }) => json(`${memoryUrl(bank, kept)}/retire`, { reason: 'other' }),
  },
  {
    name: 'restore a memory',
    needs: 'w',
    writes: false,
    request: (bank, { kept }) => json(`${memoryUrl(bank, kept)}/restore`, {}),
  },
  {
    name: 'versions of a memory',
    needs: 'r',
    writes: false,
    request: (bank, { kept }) => get(bank, `/memories/${kept}/versions`),
  },
  {
    name: 'redact a version',
    needs: 'f',
    writes: false,
    request: (bank, { kept }) => json(`${memoryUrl(bank, kept)}/versions/7/redact`, {}),
    isSilent: true,
    outcome: allowedWith(404),
  },
  {
    name: 'set the bank back',
    needs: 'a',
    writes: true,
    request: (bank) => json(`/v1/banks/${encodeURIComponent(bank)}/rollback`, { to: '2000-01-01T00:00:00Z' }),
  },
  {
    name: 'list proposals',
    needs: 'r',
    writes: false,
    isSilent: true,
    request: (bank) => get(bank, '/proposals'),
  },
  ...['accept', 'dismiss', 'undo'].map((verb): Operation => ({
    name: `${verb} a proposal`,
    needs: 'w',
    writes: false,
    request: (bank, { kept }) => json(`/v1/banks/${encodeURIComponent(bank)}/proposals/${kept}/${verb}`, {}),
    isSilent: true,
    outcome: allowedWith(404),
  })),
  {
    name: 'append messages',
    needs: 'w',
    writes: true,
    request: (bank) => json(`/v1/banks/${encodeURIComponent(bank)}/conversations/talk/messages`, {
      messages: [{ role: 'user', content: 'Something new.' }],
    }),
  },
  { name: 'list messages', needs: 'r', writes: false, request: (bank) => get(bank, '/conversations/diary/messages') },
  { name: 'list conversations', needs: 'r', writes: false, request: (bank) => get(bank, '/conversations') },
  {
    name: 'pop messages',
    needs: 'f',
    writes: true,
    request: (bank) => json(`/v1/banks/${encodeURIComponent(bank)}/conversations/diary/pop`, { count: 1 }),
  },
  {
    name: 'delete a conversation',
    needs: 'f',
    writes: true,
    request: (bank) => ({
      method: 'DELETE', url: `/v1/banks/${encodeURIComponent(bank)}/conversations/diary`,
    }),
  },
  { name: 'growth', needs: 'r', writes: false, request: (bank) => get(bank, '/growth') },
  { name: 'statistics', needs: 'r', writes: false, request: (bank) => get(bank, '/stats') },
  { name: 'get the configuration', needs: 'a', writes: false, request: (bank) => get(bank, '/config') },
  {
    name: 'set the configuration',
    needs: 'a',
    writes: true,
    request: (bank) => configure('PUT', bank, { mission: 'Another.' }),
  },
  {
    name: 'change the configuration',
    needs: 'a',
    writes: true,
    request: (bank) => configure('PATCH', bank, { mission: 'Another.' }),
  },
  { name: 'take the configuration back', needs: 'a', writes: true, request: (bank) => configure('DELETE', bank) },
  { name: 'history of the configuration', needs: 'a', writes: false, request: (bank) => get(bank, '/config/history') },
  {
    name: 'delete the bank',
    needs: 'a',
    writes: true,
    request: (bank) => ({ method: 'DELETE', url: `/v1/banks/${encodeURIComponent(bank)}` }),
  },
  { name: 'describe the bank', needs: 'r', writes: false, request: (bank) => get(bank) },
]

export const OPERATIONS: readonly Operation[] = [...ROUTE_OPERATIONS, ...PROTOCOL_OPERATIONS]
