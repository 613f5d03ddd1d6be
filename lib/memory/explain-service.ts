import type { RequestContext } from '../identity/context.js'
import { finalScore, type RankedCandidate, type Strategy } from '../retrieval/candidates.js'
import { explainHits, type Explanation } from '../retrieval/ranking.js'
import type { RecallObservation, RetrievalRequest } from '../retrieval/retriever.js'
import { byScore, type Memory, type SearchResult } from '../stores/vector-store.js'
import { analyzeText } from '../text/analysis.js'
import { sumTokens } from '../text/tokens.js'
import type { Dependencies } from './dependencies.js'
import type { ExplainAnswer, ExplainRequest, ExplainStages } from './schemas.js'
import {
  budgetStage, candidateIn, DEEP_SEARCH_LIMIT, failedFilters, lexicalStage, narrowest, placeIn, semanticStage,
  timesStage, type ObservedRecall, type StrategyPlaces,
} from './explain-stages.js'
import { commonSettings } from './file-settings.js'
import { openSearchedBanks, retrievalBounds } from './recall-service.js'
import { readFilters, readReference } from './records.js'
import { retrievalRequest } from './retrieval-request.js'

const VERDICTS = {
  min_score: 'below_min_score', max_results: 'cut_by_max_results', max_tokens: 'cut_by_max_tokens',
} as const

const NOT_RANKED = { found: false, rank: null, score: null } as const

/** Explains why a recall returns one memory or does not. */
export class ExplainService {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws ServiceError as RecallService.recall */
  async explain (
    request: ExplainRequest, context: RequestContext,
  ): Promise<ExplainAnswer> {
    const { admission, live, store, clock } = this.#deps
    const banks = await openSearchedBanks(request, context, this.#deps)
    const bank = banks[0]!.key
    const filters = readFilters(request)
    const reference = readReference(request)
    await admission.admit('recall', context, banks)
    const memoryId = request.expect.toLowerCase()
    const memory = await store.get(bank, memoryId, clock())
    if (memory === undefined) return { memory_id: memoryId, ...NOT_RANKED, verdict: 'not_in_bank', stages: {} }
    const settings = commonSettings(banks, live.current)
    const retrieval = retrievalRequest({
      bounds: retrievalBounds(request, banks), banks, filters, settings, reference,
    })
    const ranked = await this.#rank(retrieval)
    const failed = failedFilters(memory, filters)
    const places = await this.#places(memory, ranked, failed.length > 0)
    const { terms } = analyzeText(memory.text)
    const stages: ExplainStages = {
      filter: { passed: failed.length === 0, failed },
      lexical: lexicalStage(memory, terms, ranked, places, failed),
      semantic: semanticStage(memory, ranked, places, failed),
    }
    const answer = {
      memory_id: memoryId, stages, degraded: ranked.degraded.length > 0 ? [...ranked.degraded] : undefined,
    }
    if (failed.length > 0) return { ...answer, ...NOT_RANKED, verdict: 'filtered' }
    if (ranked.query.namedPeriods.length > 0) stages.times = timesStage(memory, ranked, filters)
    const [, ...parts] = ranked.rankings
    if (parts.length > 0) {
      stages.parts = parts.map(({ query: { text }, candidates, order }) => (
        { query: text, rank: placeIn(order.map((index) => candidates[index]!), memory) ?? null }
      ))
    }
    const rank = placeIn(ranked.candidates, memory)
    if (rank === undefined) {
      const foundBySome = [stages.lexical, stages.semantic]
        .some((stage) => stage?.state === 'too_low' || stage?.state === 'candidate')
      return { ...answer, ...NOT_RANKED, verdict: foundBySome ? 'not_a_candidate' : 'no_strategy_found_it' }
    }
    const candidate = ranked.candidates[rank - 1]!
    const [explanation] = explainHits([candidate], ranked.rankings)
    this.#addRanking(stages, candidate, explanation!, ranked)
    const counts = ranked.candidates.slice(0, rank).map(({ memory }) => memory.tokens)
    const tokens = await sumTokens(counts)
    stages.budget = budgetStage(ranked.candidates, rank, tokens, retrieval)
    const [bound] = stages.budget.cut_by
    const verdict = bound === undefined ? 'returned' : VERDICTS[bound]
    return { ...answer, found: bound === undefined, verdict, rank, score: finalScore(candidate) }
  }

  async #rank (request: RetrievalRequest): Promise<ObservedRecall> {
    let observation: RecallObservation | undefined
    const ranked = await this.#deps.retriever.rank(request, (seen) => { observation = seen })
    return { ...ranked, ...observation! }
  }

  /** The query's own search covers only its candidates; for other memories a deeper search follows. */
  async #places (memory: Memory, { result, search }: ObservedRecall, filtered: boolean): Promise<StrategyPlaces> {
    const { store } = this.#deps
    const isMissed = (found: SearchResult) => [found.lexical, found.semantic].some((list) => (
      list !== undefined && placeIn(list, memory) === undefined
    ))
    const searched = [result]
    if (!filtered && isMissed(result) && search.limit < DEEP_SEARCH_LIMIT) {
      searched.unshift(await store.search({ ...search, limit: DEEP_SEARCH_LIMIT }))
    }
    const deepest = searched[0]!
    // Scores do not depend on filters: among the few memories that pass the narrowest ones, this memory ranks high
    // enough to be found.
    if (searched.every((found) => candidateIn(found, memory) === undefined)) {
      searched.push(await store.search({ ...search, filters: narrowest(memory), limit: DEEP_SEARCH_LIMIT }))
    }
    const last = searched.at(-1)!
    const ranks: StrategyPlaces['ranks'] = {}
    for (const name of ['lexical', 'semantic'] as const) {
      const rank = placeIn(deepest[name] ?? [], memory)
      if (rank !== undefined) ranks[name] = rank
    }
    const scores = searched.map((found) => candidateIn(found, memory)?.scores).find((found) => found !== undefined)
    const isCertain = (name: Strategy) => scores !== undefined || (last[name]?.length ?? 0) < DEEP_SEARCH_LIMIT
    return { ranks, scores, isExhaustive: { lexical: isCertain('lexical'), semantic: isCertain('semantic') } }
  }

  #addRanking (
    stages: ExplainStages, { memory, rerank }: RankedCandidate, { scorerContributions }: Explanation,
    { rankings, ranked, degraded }: ObservedRecall,
  ): void {
    const { candidates, fusionScores } = rankings[0]!
    const byStrategies = candidates.map(({ memory }, index) => ({ memory, score: fusionScores[index]! })).sort(byScore)
    const fusedRank = placeIn(byStrategies, memory)
    if (fusedRank !== undefined) stages.fusion = { rank: fusedRank, score: byStrategies[fusedRank - 1]!.score }
    const rank = placeIn(ranked, memory)!
    stages.scorers = { rank, score: ranked[rank - 1]!.rankScore, signals: { ...scorerContributions } }
    const completed = rerank === undefined ? 'not_judged' : 'judged'
    const called = degraded.includes('rerank') ? 'degraded' : completed
    const state = this.#deps.reranker === undefined ? 'off' : called
    stages.rerank = { state, rank: rerank?.rank ?? null, score: rerank?.score ?? null }
  }
}
