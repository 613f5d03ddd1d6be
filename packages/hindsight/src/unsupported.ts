import type { FastifyInstance, HTTPMethods } from 'fastify'
import { BANK, unsupported } from './gateway.js'

/** A group of operations, why it is not supported, and the operations by their paths below a bank. */
interface Group {
  what: string
  why: string
  operations: Readonly<Record<string, readonly HTTPMethods[]>>
  /** Operations without a bank, by their whole paths. */
  elsewhere?: Readonly<Record<string, readonly HTTPMethods[]>>
}

const NO_DIRECTIVES = 'there are none here; what answers should heed is said in the mission of the bank ' +
  '(reflect_mission)'
const NO_MODELS = 'nothing is written from memories in the background here; ask with reflect when it is needed'
const NO_OPERATIONS = 'every request is done when it is answered here, so there are no operations to follow'
const NO_ENTITIES = 'no entities are taken from texts here; recall finds memories by words and by meaning'

/** The operations of Hindsight's API without a counterpart. */
const UNSUPPORTED: readonly Group[] = [
  {
    what: 'Directives',
    why: NO_DIRECTIVES,
    operations: { '/directives': ['GET', 'POST'], '/directives/:id': ['GET', 'PATCH', 'DELETE'] },
  },
  {
    what: 'Mental models',
    why: NO_MODELS,
    operations: {
      '/mental-models': ['GET', 'POST'],
      '/mental-models/:id': ['GET', 'PATCH', 'DELETE'],
      '/mental-models/:id/history': ['GET'],
      '/mental-models/:id/refresh': ['POST'],
      '/mental-models/:id/dry-run-refresh': ['POST'],
      '/mental-models/:id/clear': ['POST'],
    },
  },
  {
    what: 'The knowledge base',
    why: NO_MODELS,
    operations: {
      '/knowledge-base/tree': ['GET'],
      '/knowledge-base/folders': ['POST'],
      '/knowledge-base/pages': ['POST'],
      '/knowledge-base/pages/:id': ['GET'],
      '/knowledge-base/search': ['GET'],
      '/knowledge-base/export': ['GET'],
      '/knowledge-base/nodes/:id': ['PATCH', 'DELETE'],
    },
  },
  {
    what: 'Observations',
    why: NO_MODELS,
    operations: {
      '/observations': ['DELETE'],
      '/observations/scopes': ['GET'],
      '/consolidate': ['POST'],
      '/consolidation/recover': ['POST'],
      '/memories/:id/observations': ['DELETE'],
    },
  },
  {
    what: 'Files',
    why: 'files are not converted to text here; retain their text',
    operations: { '/files/retain': ['POST'] },
  },
  {
    what: 'Transfer of documents',
    why: 'a bank moves as lines of JSON here; use GET /v1/banks/{bank_id}/export and POST /v1/banks/{bank_id}/import',
    operations: { '/document-transfer': ['GET', 'POST'], '/document-transfer/export': ['POST'] },
  },
  {
    what: 'Templates',
    why: 'use GET and PUT of /v1/banks/{bank_id}/config',
    operations: { '/import': ['POST'], '/export': ['GET'] },
    elsewhere: { '/v1/bank-template-schema': ['GET'] },
  },
  {
    what: 'Changes of what is stored',
    why: 'a memory does not change here; retain the document again, or forget the memory with POST /v1/forget',
    operations: {
      '/documents/:document_id': ['PATCH'],
      '/documents/:document_id/reprocess': ['POST'],
      '/memories/:id': ['PATCH'],
      '/memories': ['DELETE'],
      '/memories/dry-run-extract': ['POST'],
    },
  },
  {
    what: 'Reading of single memories and chunks',
    why: 'use GET /v1/banks/{bank_id}/memories/{memory_id}',
    operations: {
      '/memories/:id': ['GET'], '/memories/:id/history': ['GET'], '/documents/:document_id/chunks': ['GET'],
    },
    elsewhere: { '/v1/default/chunks/:id': ['GET'] },
  },
  {
    what: 'Operations',
    why: NO_OPERATIONS,
    operations: {
      '/operations': ['GET'],
      '/operations/:id': ['GET', 'DELETE'],
      '/operations/:id/retry': ['POST'],
      '/operations/:id/delete': ['DELETE'],
    },
  },
  {
    what: 'Entities and graphs',
    why: NO_ENTITIES,
    operations: {
      '/entities': ['GET'],
      '/entities/graph': ['GET'],
      '/entities/:id': ['GET'],
      '/entities/:id/regenerate': ['POST'],
      '/graph': ['GET'],
    },
  },
  {
    what: 'Statistics and tags',
    why: 'use GET /v1/banks/{bank_id}/stats',
    operations: { '/stats': ['GET'], '/stats/memories-timeseries': ['GET'], '/tags': ['GET'] },
  },
  {
    what: 'Webhooks, audit and traces',
    why: 'the gateway sends no events; its log and its metrics tell what was done',
    operations: {
      '/webhooks': ['GET', 'POST'],
      '/webhooks/:id': ['PATCH', 'DELETE'],
      '/webhooks/:id/deliveries': ['GET'],
      '/audit-logs': ['GET'],
      '/audit-logs/stats': ['GET'],
      '/llm-requests': ['GET'],
      '/llm-requests/stats': ['GET'],
      '/health/llm': ['POST'],
    },
  },
  { what: 'The list of banks', why: 'use GET /v1/banks', operations: {}, elsewhere: { '/v1/default/banks': ['GET'] } },
  {
    what: 'Older forms of the configuration of a bank',
    why: 'use PUT of the bank, or PATCH of its config',
    operations: { '/profile': ['PUT'], '/background': ['POST'], '': ['PATCH'] },
  },
]

/** Answers 501 with the reason, before the body is read. */
export function unsupportedRoutes (app: FastifyInstance): void {
  for (const { what, why, operations, elsewhere = {} } of UNSUPPORTED) {
    const inBanks = Object.entries(operations).map(([path, methods]) => [`${BANK}${path}`, methods] as const)
    for (const [url, method] of [...inBanks, ...Object.entries(elsewhere)]) {
      app.route({
        method: [...method],
        url,
        exposeHeadRoute: false,
        onRequest: async () => { throw unsupported(what, why) },
        handler: async () => {},
      })
    }
  }
}
