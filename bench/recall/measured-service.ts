import { performance } from 'node:perf_hooks'
import { Type } from 'typebox'
import type { MemoryService } from '../../lib/operations/memory-service.js'
import {
  RecallAnswer, RetainAnswer, RetainBatchAnswer, type RecallRequest, type RetainBatchRequest, type RetainRequest,
} from '../../lib/operations/schemas.js'
import { checker } from '../checker.js'
import type { JsonClient } from '../json-client.js'

export interface Timed<T> {
  answer: T
  durationMs: number
}

/** The measured service: the gateway over HTTP, or its library. */
export interface MeasuredService {
  retain (request: RetainRequest): Promise<Timed<RetainAnswer>>
  retainBatch (request: RetainBatchRequest): Promise<Timed<RetainBatchAnswer>>
  recall (request: RecallRequest): Promise<Timed<RecallAnswer>>
  /** The answer of GET /v1/banks/:bank_id/stats. */
  statistics (bank: string): Promise<unknown>
  forgetAll (bank: string): Promise<void>
}

const checkRetain = checker(RetainAnswer, 'the answer to a retain')
const checkBatch = checker(RetainBatchAnswer, 'the answer to a batch')
const checkRecall = checker(RecallAnswer, 'the answer to a recall')
const checkForget = checker(Type.Object({ deleted_count: Type.Integer() }), 'the answer to a forget')

export function overHttp (client: JsonClient): MeasuredService {
  const post = async <T>(path: string, body: unknown, check: (answer: unknown) => T): Promise<Timed<T>> => {
    const { body: answer, durationMs } = await client.post(path, body)
    return { answer: check(answer), durationMs }
  }
  return {
    retain: async (request) => await post('/v1/retain', request, checkRetain),
    retainBatch: async (request) => await post('/v1/retain/batch', request, checkBatch),
    recall: async (request) => await post('/v1/recall', request, checkRecall),
    statistics: async (bank) => (await client.get(`/v1/banks/${bank}/stats`)).body,
    forgetAll: async (bank) => { checkForget((await client.post('/v1/forget', { bank_id: bank, scope: 'all' })).body) },
  }
}

const CONTEXT = { tenantId: null }

/** The service in this process: no HTTP, no validation of input. */
export function inProcess ({ retain, retainBatch, forget, recall, getBankStatistics }: MemoryService): MeasuredService {
  const timed = async <T>(work: Promise<T>): Promise<Timed<T>> => {
    const started = performance.now()
    const answer = await work
    return { answer, durationMs: performance.now() - started }
  }
  return {
    retain: async (request) => await timed(retain(request, CONTEXT)),
    retainBatch: async (request) => await timed(retainBatch(request, CONTEXT)),
    recall: async (request) => await timed(recall(request, CONTEXT)),
    statistics: async (bank) => await getBankStatistics({ bank_id: bank }, CONTEXT),
    forgetAll: async (bank) => { await forget({ bank_id: bank, scope: 'all' }, CONTEXT) },
  }
}
