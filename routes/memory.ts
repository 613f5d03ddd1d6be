import type { FastifyPluginAsync } from 'fastify'
import { BankConfigurationSchema } from '../lib/config/schema.js'
import { getAccess, whoami } from '../lib/operations/access.js'
import {
  getBankConfig, getBankConfigHistory, patchBankConfig, putBankConfig, resetBankConfig,
} from '../lib/operations/bank-settings.js'
import {
  appendMessages, deleteConversation, listConversations, listMessages, popMessages,
} from '../lib/operations/conversations.js'
import { deleteBank, getBank, getBankGrowth, getBankStatistics, listBanks } from '../lib/operations/banks.js'
import { explainRecall } from '../lib/operations/explain.js'
import { forget } from '../lib/operations/forget.js'
import { getMemory, getMemoryNeighbours, listMemories } from '../lib/operations/memories.js'
import { patchMemory, restoreMemory, retireMemory } from '../lib/operations/memory-changes.js'
import { listVersions, redactVersion, rollbackBank } from '../lib/operations/memory-versions.js'
import {
  acceptProposal, dismissProposal, listProposals, undoProposal,
} from '../lib/operations/proposals.js'
import { recall } from '../lib/operations/recall.js'
import { retain, retainBatch } from '../lib/operations/retain.js'
import { reflectRoutes } from './reflect.js'
import { serve } from './serve.js'
import { transferRoutes } from './transfer.js'

const MERGE_PATCH = 'application/merge-patch+json'
/** A configuration has at most 32 KiB; white space and escapes can make its JSON text longer. */
const CONFIG_BYTES = 256 * 1024

interface MemoryRouteOptions {
  /** See EventStreamOptions. */
  heartbeatMs: number
}

/** Which operation answers which method and path of callers. */
export const memoryRoutes: FastifyPluginAsync<MemoryRouteOptions> = async (app, { heartbeatMs }) => {
  serve(app, 'POST /v1/retain', retain)
  serve(app, 'POST /v1/retain/batch', retainBatch, {
    bodyLimit: app.bounds.batch_bytes, bodyBound: 'bounds.batch_bytes',
  })
  serve(app, 'POST /v1/recall', recall)
  serve(app, 'POST /v1/recall/explain', explainRecall)
  serve(app, 'POST /v1/forget', forget)

  serve(app, 'GET /v1/banks', listBanks)
  serve(app, 'GET /v1/banks/:bank_id', getBank)
  serve(app, 'GET /v1/banks/:bank_id/stats', getBankStatistics)
  serve(app, 'GET /v1/banks/:bank_id/memories', listMemories)
  serve(app, 'GET /v1/banks/:bank_id/memories/:memory_id', getMemory)
  serve(app, 'GET /v1/banks/:bank_id/growth', getBankGrowth)
  serve(app, 'GET /v1/banks/:bank_id/memories/:memory_id/neighbours', getMemoryNeighbours)

  serve(app, 'POST /v1/banks/:bank_id/memories/:memory_id/retire', retireMemory)
  serve(app, 'POST /v1/banks/:bank_id/memories/:memory_id/restore', restoreMemory)
  serve(app, 'GET /v1/banks/:bank_id/memories/:memory_id/versions', listVersions)
  serve(app, 'POST /v1/banks/:bank_id/memories/:memory_id/versions/:version/redact', redactVersion)
  serve(app, 'POST /v1/banks/:bank_id/rollback', rollbackBank)
  serve(app, 'GET /v1/banks/:bank_id/conversations', listConversations)
  serve(app, 'GET /v1/banks/:bank_id/conversations/:conversation_id/messages', listMessages)
  serve(app, 'POST /v1/banks/:bank_id/conversations/:conversation_id/messages', appendMessages, {
    bodyLimit: app.bounds.batch_bytes, bodyBound: 'bounds.batch_bytes',
  })
  serve(app, 'POST /v1/banks/:bank_id/conversations/:conversation_id/pop', popMessages)
  serve(app, 'DELETE /v1/banks/:bank_id/conversations/:conversation_id', deleteConversation)

  serve(app, 'GET /v1/banks/:bank_id/proposals', listProposals)
  serve(app, 'POST /v1/banks/:bank_id/proposals/:proposal_id/accept', acceptProposal)
  serve(app, 'POST /v1/banks/:bank_id/proposals/:proposal_id/dismiss', dismissProposal)
  serve(app, 'POST /v1/banks/:bank_id/proposals/:proposal_id/undo', undoProposal)

  serve(app, 'GET /v1/banks/:bank_id/config', getBankConfig)
  serve(app, 'PUT /v1/banks/:bank_id/config', putBankConfig, {
    bodyLimit: CONFIG_BYTES, bodyBound: null, checkedAs: BankConfigurationSchema,
  })
  // In a scope of its own, because only these routes take a merge patch: a PUT of one would remove what it keeps.
  await app.register(async (scope) => {
    scope.takeJson(MERGE_PATCH)
    serve(scope, 'PATCH /v1/banks/:bank_id/memories/:memory_id', patchMemory, {
      mediaTypes: [MERGE_PATCH, 'application/json'],
    })
    serve(scope, 'PATCH /v1/banks/:bank_id/config', patchBankConfig, {
      bodyLimit: CONFIG_BYTES, bodyBound: null, mediaTypes: [MERGE_PATCH, 'application/json'],
    })
  })
  serve(app, 'DELETE /v1/banks/:bank_id/config', resetBankConfig)
  serve(app, 'GET /v1/banks/:bank_id/config/history', getBankConfigHistory)
  serve(app, 'DELETE /v1/banks/:bank_id', deleteBank)

  await app.register(transferRoutes)
  serve(app, 'GET /v1/whoami', whoami)
  serve(app, 'GET /v1/access', getAccess)
  await app.register(reflectRoutes, { heartbeatMs })
}
