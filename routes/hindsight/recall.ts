import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from 'typebox'
import { runInTurns } from '../../lib/concurrency/steps.js'
import { callerOf } from '../../lib/identity/context.js'
import { nullable, optionalOrUndefined, strict, type Hit, type RecallAnswer } from '../../lib/memory/schemas.js'
import { query } from '../../lib/memory/schemas/filters.js'
import { countSteps } from '../../lib/text/tokens.js'
import { factOf, Fact } from './facts.js'
import { kindFilter, Kinds, tagFields, tagFilter } from './filters.js'
import { readInstant } from './instants.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'
import { withoutUndefined } from '../../lib/validation/members.js'

/** The number of memories that Hindsight considers at each level; here it is the number of candidates and hits. */
const DEPTH = { low: 100, mid: 300, high: 1000 } as const
const DEFAULT_MAX_TOKENS = 4096
const DEFAULT_CHUNK_TOKENS = 8192
/** Bounds the chunks, because they are one member of the answer, which is built synchronously. */
const MAX_CHUNK_TOKENS = 131_072

const tokens = Type.Optional(Type.Integer({ minimum: 1 }))
const minScore = Type.Optional(Type.Number())

const RecallBody = strict({
  query,
  types: Type.Optional(Kinds),
  prefer_observations: Type.Optional(Type.Boolean()),
  budget: Type.Optional(Type.Enum(['low', 'mid', 'high'])),
  max_tokens: tokens,
  trace: Type.Optional(Type.Boolean()),
  query_timestamp: Type.Optional(Type.String()),
  include: Type.Optional(strict({
    entities: Type.Optional(strict({ max_tokens: tokens })),
    chunks: Type.Optional(strict({
      max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CHUNK_TOKENS })),
    })),
    source_facts: Type.Optional(Type.Object({})),
  })),
  ...tagFields,
  min_scores: Type.Optional(strict({
    semantic: minScore,
    keyword: minScore,
    reranker: minScore,
    final: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  })),
})

const score = Type.Unsafe<number | null>({ type: ['number', 'null'] })
const Chunk = Type.Object({
  id: Type.String(), text: Type.String(), chunk_index: Type.Integer(), truncated: Type.Boolean(),
})
const anyMap = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

const RecallResult = Type.Object({
  results: Type.Array(Type.Object({
    ...Fact.properties,
    entities: nullable(),
    source_fact_ids: nullable(),
    scores: Type.Object({ final: Type.Number(), semantic: score, keyword: score, reranker: score }),
  })),
  trace: optionalOrUndefined(anyMap),
  entities: optionalOrUndefined(anyMap),
  chunks: optionalOrUndefined(Type.Record(Type.String(), Chunk)),
  source_facts: optionalOrUndefined(anyMap),
  degraded: optionalOrUndefined(Type.Array(Type.String())),
})

type Body = Static<typeof RecallBody>
type Result = Static<typeof RecallResult>

/** A hit, and the fact that is made from it. */
interface HitFact {
  hit: Hit
  fact: ReturnType<typeof factOf>
}

export const recallRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  app.post(`${BANK}/memories/recall`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: BankParams, body: RecallBody, response: { 200: RecallResult } },
  }, async ({ params, body, context }) => {
    refuseScores(body)
    const answer = await app.memory.recall({
      bank_id: params.bank_id,
      query: body.query,
      max_results: DEPTH[body.budget ?? 'mid'],
      explain: body.trace === true,
      ...withoutUndefined({
        reference_time: body.query_timestamp === undefined
          ? undefined
          : readInstant('query_timestamp', body.query_timestamp),
        min_score: body.min_scores?.final,
      }),
      also: { ...tagFilter(body), ...kindFilter(body.types?.length ? body.types : ['world', 'experience']) },
    }, context)
    return await resultOf(answer, body, callerOf(context))
  })
}

/** Scores of single strategies are not available, so bounds on them are refused. */
function refuseScores ({ min_scores: minScores = {} }: Body): void {
  for (const name of ['semantic', 'keyword', 'reranker'] as const) {
    if (minScores[name] !== undefined) {
      throw unsupported(`min_scores.${name}`, 'only the final score has a bound here; use min_scores.final')
    }
  }
}

async function resultOf (
  answer: RecallAnswer, { include = {}, max_tokens: maxTokens = DEFAULT_MAX_TOKENS, trace }: Body, caller: string,
): Promise<Result> {
  const returned = await fitting(answer.hits, maxTokens, caller)
  return {
    results: returned.map(({ hit, fact }) => ({
      ...fact,
      entities: null,
      source_fact_ids: null,
      scores: scoresOf(hit),
    })),
    trace: trace === true ? { ...answer.trace, candidates: answer.total_available } : undefined,
    // There are no entities and no observations, so requests for them get none.
    entities: include.entities === undefined ? undefined : {},
    source_facts: include.source_facts === undefined ? undefined : {},
    chunks: include.chunks === undefined
      ? undefined
      : await chunksOf(returned.map(({ hit }) => hit), include.chunks.max_tokens ?? DEFAULT_CHUNK_TOKENS, caller),
    degraded: answer.degraded,
  }
}

function scoresOf ({ score, scores = {} }: Hit) {
  return {
    final: score,
    semantic: scores.semantic?.score ?? null,
    keyword: scores.lexical?.score ?? null,
    reranker: scores.rerank?.score ?? null,
  }
}

/** The whole memories within the budget; one that does not fit is replaced by the passage that matched. */
async function chunksOf (
  hits: readonly Hit[], maxTokens: number, caller: string,
): Promise<Record<string, Static<typeof Chunk>>> {
  const chunks: Array<[string, Static<typeof Chunk>]> = []
  let remainingTokens = maxTokens
  for (const hit of hits) {
    const texts = [hit.text, ...(hit.passages ?? []).slice(0, 1).map(({ text }) => text)]
    for (const [index, text] of texts.entries()) {
      const count = await runInTurns(countSteps(text, remainingTokens), caller)
      if (count > remainingTokens) continue
      remainingTokens -= count
      chunks.push([hit.memory_id, { id: hit.memory_id, text, chunk_index: 0, truncated: index > 0 }])
      break
    }
    if (remainingTokens === 0) break
  }
  return Object.fromEntries(chunks)
}

/** The memories in order while their texts fit; the first that does not fit ends the list. */
async function fitting (hits: readonly Hit[], maxTokens: number, caller: string): Promise<HitFact[]> {
  let remainingTokens = maxTokens
  const taken: HitFact[] = []
  for (const hit of hits) {
    const fact = factOf(hit)
    const count = await runInTurns(countSteps(fact.text, remainingTokens), caller)
    if (count > remainingTokens) break
    remainingTokens -= count
    taken.push({ hit, fact })
  }
  return taken
}
