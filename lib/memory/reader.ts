import { invalidField, invalidRequest } from '../errors.js'
import type { BankKey, RequestContext } from '../identity/context.js'
import type { PolicySettings } from '../policy/settings.js'
import type { RetrievalRequest, Retrieved } from '../retrieval/retriever.js'
import type { Filters } from '../stores/vector-store.js'
import { bankOf, type Dependencies } from './dependencies.js'
import { clamp, readFilters, toHit } from './records.js'
import type { RecallAnswer, RecallRequest, Trace } from './schemas.js'

const DEFAULT_MAX_RESULTS = 10
const MAX_RESULTS = 1000

type RecallBounds = Pick<RecallRequest, 'query' | 'max_results' | 'max_tokens' | 'min_score'>

/** recall. */
export class Reader {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  async recall (request: RecallRequest, context: RequestContext, signal?: AbortSignal): Promise<RecallAnswer> {
    const { admission, settings, retriever, helpers } = this.#deps
    const banks = readableBanks(request, context, this.#deps)
    const filters = readFilters(request)
    helpers.refuseUnsupported(request)
    await admission.admit('recall', context, banks)
    const explain = request.explain === true
    const asked = { banks, context, ...(signal !== undefined && { signal }) }
    const rewrites = request.rewrite === true ? await this.#rewrites(request.query, asked) : []
    const retrieved = await retriever.retrieve({
      ...retrievalRequest(request, banks, filters, settings),
      explain,
      ...(rewrites !== undefined && { rewrites }),
      ...(request.model_rerank === true && { reranker: helpers.reranker(asked) }),
      ...(signal !== undefined && { signal }),
    })
    const degraded = [...(rewrites === undefined ? ['rewrite' as const] : []), ...retrieved.degraded]
    return {
      hits: retrieved.hits.map((hit) => toHit(hit, explain)),
      total_available: retrieved.total,
      truncated: retrieved.truncated,
      usage: { tokens: retrieved.tokens },
      ...(degraded.length > 0 && { degraded }),
      ...(explain && { trace: toTrace(retrieved) }),
    }
  }

  /** @returns undefined when they did not come */
  async #rewrites (query: string, asked: { banks: readonly BankKey[], context: RequestContext, signal?: AbortSignal }): Promise<string[] | undefined> {
    try {
      return await this.#deps.helpers.rewrite(query, asked)
    } catch (error) {
      if (asked.signal?.aborted === true) throw error
      return undefined
    }
  }
}

/** What a recall asks of the retriever; sizes are clamped, and budgets under the ceilings of the banks. */
export function retrievalRequest (request: RecallBounds, banks: readonly BankKey[], filters: Filters, settings: PolicySettings): RetrievalRequest {
  const maxTokens = tokenBudget(request.max_tokens, banks.map(({ bankId }) => settings.of(bankId).homeostasis.recall_max_tokens))
  return {
    query: request.query,
    banks,
    filters,
    limit: clamp(request.max_results ?? DEFAULT_MAX_RESULTS, 1, MAX_RESULTS),
    ...(request.min_score !== undefined && { minScore: request.min_score }),
    ...(maxTokens !== undefined && { maxTokens }),
  }
}

/**
 * The banks that a request names, each once.
 * @throws ServiceError invalid_request unless exactly one of bank_id and banks is given and the query has text;
 *   access_denied for the first bank that the caller may not read
 */
export function readableBanks (request: { bank_id?: string, banks?: string[], query: string }, context: RequestContext, { access }: Dependencies): BankKey[] {
  if ((request.bank_id === undefined) === (request.banks === undefined)) {
    throw invalidRequest([{ field: '', message: 'Exactly one of bank_id and banks must be given' }])
  }
  if (request.query.trim() === '') throw invalidField('query', 'must not be blank')
  const names = [...new Set(request.banks ?? [request.bank_id!])]
  for (const name of names) access.require(context, 'read', name)
  return names.map((name) => bankOf(context, name))
}

/** The request's own budget, under the tightest ceiling of the banks; the ceiling alone when the request names none. */
export function tokenBudget (requested: number | undefined, ceilings: ReadonlyArray<number | undefined>): number | undefined {
  const limits = [requested, ...ceilings].filter((limit) => limit !== undefined)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

function toTrace ({ stages, strategies }: Retrieved): Trace {
  return {
    stages: stages.map(({ name, durationMs }) => ({ name, duration_ms: Math.round(durationMs * 1000) / 1000 })),
    strategies,
  }
}
