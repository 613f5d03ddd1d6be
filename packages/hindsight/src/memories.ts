import type { FastifyInstance } from 'fastify'
import type { Hit, RecallAnswer, ReflectAnswer, RetainItem } from 'memory-gateway-client'
import { Type, type Static } from 'typebox'
import {
  CONTEXT_KEY, factOf, kindFilter, kindOf, KindSchema, listedFactOf, readInstant, tagFields, tagFilter, Tags, type Kind,
} from './facts.js'
import {
  BANK, clientFor, invalid, strict, unsupported, withoutUndefined, withSentNames, type HindsightOptions,
} from './gateway.js'
import { DEFAULT_PAGE, memoriesOf, pageFields, totalOf } from './pages.js'

const text = Type.Optional(Type.String())
const anything = Type.Optional(Type.Unknown())
const tokens = Type.Optional(Type.Integer({ minimum: 1 }))
const kinds = Type.Optional(Type.Array(KindSchema))
const minScore = Type.Optional(Type.Number())
const noExtra = Type.Optional(Type.Object({}))

const Item = strict({
  content: Type.String(),
  timestamp: text,
  context: text,
  metadata: Type.Optional(Type.Record(
    Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  )),
  document_id: text,
  tags: Type.Optional(Tags),
  update_mode: Type.Optional(Type.Enum(['replace', 'append'])),
  entities: Type.Optional(Type.Array(Type.Unknown())),
  strategy: text,
  // It configures observations, which the gateway does not make.
  observation_scopes: anything,
})
const RetainBody = strict({
  items: Type.Array(Item, { minItems: 1, maxItems: 1000 }),
  async: Type.Optional(Type.Boolean()),
  document_tags: Type.Optional(Tags),
  operation_id: text,
})

const RecallBody = strict({
  query: Type.String(),
  types: kinds,
  // There are no observations that could be preferred.
  prefer_observations: anything,
  budget: Type.Optional(Type.Enum(['low', 'mid', 'high'])),
  max_tokens: tokens,
  trace: Type.Optional(Type.Boolean()),
  query_timestamp: text,
  include: Type.Optional(strict({
    entities: noExtra, chunks: Type.Optional(strict({ max_tokens: tokens })), source_facts: noExtra,
  })),
  ...tagFields,
  min_scores: Type.Optional(strict({ semantic: minScore, keyword: minScore, reranker: minScore, final: minScore })),
})

const ReflectBody = strict({
  query: Type.String(),
  context: text,
  budget: Type.Optional(Type.Enum(['low', 'mid', 'high'])),
  max_tokens: tokens,
  include: Type.Optional(strict({ facts: noExtra, tool_calls: noExtra })),
  response_schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ...tagFields,
  fact_types: kinds,
  // There are no directives and no mental models, so options that select them have no effect.
  apply_all_directives: anything,
  exclude_mental_models: anything,
  exclude_mental_model_ids: anything,
})

const ListQuery = strict({
  ...pageFields,
  type: Type.Optional(KindSchema),
  q: text,
  state: Type.Optional(Type.Enum(['valid', 'invalidated'])),
  document_id: text,
  ...tagFields,
  consolidation_state: text,
  entity_id: text,
})

interface Place { Params: { bank_id: string } }

/** The number of memories that Hindsight considers at each level; here it is the number of candidates and hits. */
const DEPTH = { low: 100, mid: 300, high: 1000 } as const
const DEFAULT_MAX_TOKENS = 4096
const DEFAULT_CHUNK_TOKENS = 8192
/** Bounds the whole memories behind the passages, so that the gateway's answer is not too large for it. */
const MAX_ANSWER_TOKENS = 500_000
/** What a token is counted as. */
const TOKEN_CHARACTERS = 4
const MAX_QUERY_CHARACTERS = 8192

export function memoryRoutes (app: FastifyInstance, options: HindsightOptions): void {
  app.post<Place & { Body: Static<typeof RetainBody> }>(`${BANK}/memories`, {
    schema: { body: RetainBody },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, body: { items, document_tags: more = [], async, operation_id: id } } = request
    refuseMixedModes(items)
    const names = new Map<string, string>()
    const batch = { bank_id: bankId, items: items.map((item, index) => itemOf(item, more, `items[${index}].`, names)) }
    // An operation id makes repeats of the request idempotent.
    const idempotencyKey = async === true ? id : undefined
    await withSentNames(names, clientFor(request, reply, options).retainBatch(batch, { idempotencyKey }))
    // The work is done already, also when the client expects to wait for it.
    return { success: true, bank_id: bankId, items_count: items.length, async: false }
  })

  app.post<Place & { Body: Static<typeof RecallBody> }>(`${BANK}/memories/recall`, {
    schema: { body: RecallBody },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, body } = request
    for (const name of ['semantic', 'keyword', 'reranker'] as const) {
      if (body.min_scores?.[name] !== undefined) {
        throw unsupported(`min_scores.${name}`, 'only the final score has a bound here; use min_scores.final')
      }
    }
    const wanted: Kind[] = body.types?.length ? body.types : ['world', 'experience']
    const inStore = kindFilter(wanted)
    const { query_timestamp: time } = body
    const names = new Map([['reference_time', 'query_timestamp'], ['min_score', 'min_scores.final']])
    const answer = await withSentNames(names, clientFor(request, reply, options).recall({
      bank_id: bankId,
      query: body.query,
      max_results: DEPTH[body.budget ?? 'mid'],
      max_tokens: MAX_ANSWER_TOKENS,
      explain: body.trace === true,
      ...withoutUndefined({
        reference_time: time === undefined ? undefined : readInstant('query_timestamp', time),
        min_score: body.min_scores?.final,
      }),
      ...tagFilter(body),
      ...inStore,
    }))
    const hits = answer.hits.filter((hit) => wanted.includes(kindOf(hit)))
    return recalled(answer, hits, body)
  })

  app.post<Place & { Body: Static<typeof ReflectBody> }>(`${BANK}/reflect`, {
    schema: { body: ReflectBody },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, body } = request
    if (body.include?.tool_calls !== undefined) {
      throw unsupported(
        'include.tool_calls', 'a reflect here is one recall and one answer, with no calls of tools to tell',
      )
    }
    const inStore = kindFilter(body.fact_types ?? [])
    if (inStore === undefined) {
      throw unsupported('fact_types', 'an answer rests on memories of all kinds here, or on those of one but world')
    }
    const facts = body.include?.facts !== undefined
    return reflected(await clientFor(request, reply, options).reflect({
      bank_id: bankId,
      query: questionOf(body),
      include_sources: facts && 'cited',
      ...withoutUndefined({ max_tokens: body.max_tokens, response_schema: body.response_schema }),
      ...tagFilter(body),
      ...inStore,
    }), facts)
  })

  app.get<Place & { Querystring: Static<typeof ListQuery> }>(`${BANK}/memories/list`, {
    schema: { querystring: ListQuery },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, query } = request
    const { limit = DEFAULT_PAGE, offset = 0, q, type, document_id: documentId } = query
    if (query.consolidation_state !== undefined) {
      throw unsupported('consolidation_state', 'memories are not consolidated here')
    }
    if (query.entity_id !== undefined) throw unsupported('entity_id', 'there are no entities here')
    const { metadata } = kindFilter(type === undefined ? [] : [type]) ?? {}
    const list = withoutUndefined({
      bank_id: bankId,
      document_id: documentId,
      metadata: metadata && JSON.stringify(metadata),
      ...tagFilter(query),
    })
    const client = clientFor(request, reply, options)
    const total = await totalOf(client, list)
    // Memories are never marked invalid here; they are deleted.
    if (query.state === 'invalidated') return { items: [], total: 0, limit, offset }
    const items: Array<ReturnType<typeof listedFactOf>> = []
    if (q === undefined && type !== 'world') {
      if (offset < total) {
        for await (const memory of memoriesOf(client, { ...list, offset })) {
          if (items.push(listedFactOf(memory)) === limit) break
        }
      }
      return { items, total, limit, offset }
    }
    let matched = 0
    for await (const memory of memoriesOf(client, list)) {
      if (type !== undefined && kindOf(memory) !== type) continue
      if (q !== undefined && !memory.text.toLowerCase().includes(q.toLowerCase())) continue
      if (matched++ >= offset && items.length < limit) items.push(listedFactOf(memory))
    }
    return { items, total: matched, limit, offset }
  })
}

/** All items of a document replace it, or all are added to it. */
function refuseMixedModes (items: ReadonlyArray<Static<typeof Item>>): void {
  const modes = new Map<string, 'replace' | 'append'>()
  for (const [index, { document_id: id, update_mode: mode = 'replace' }] of items.entries()) {
    if (id === undefined) continue
    if ((modes.get(id) ?? mode) !== mode) {
      throw invalid(`items[${index}].update_mode`, 'must be the same for all items of a document')
    }
    modes.set(id, mode)
  }
}

/** @param names gets those of the fields that have another name here */
function itemOf (
  item: Static<typeof Item>, documentTags: readonly string[], at: string, names: Map<string, string>,
): RetainItem {
  const { content, timestamp, context, metadata, document_id: documentId, update_mode: mode } = item
  if (item.entities !== undefined && item.entities.length > 0) {
    throw unsupported(`${at}entities`, 'no entities are kept here; name them in the content, in tags or in metadata')
  }
  if (item.strategy !== undefined) {
    throw unsupported(`${at}strategy`, 'content is stored as it is here, so there are no strategies of extraction')
  }
  if (mode !== undefined && documentId === undefined) throw invalid(`${at}update_mode`, 'needs document_id')
  names.set(`${at}occurred_at`, `${at}timestamp`)
  if (metadata === undefined) names.set(`${at}metadata`, `${at}context`)
  if (item.tags === undefined) names.set(`${at}tags`, 'document_tags')
  if (context && (metadata?.[CONTEXT_KEY] ?? context) !== context) {
    throw invalid(`${at}context`, `is kept as metadata.${CONTEXT_KEY}, which has another value`)
  }
  const tags = [...new Set([...item.tags ?? [], ...documentTags])]
  const isDated = timestamp !== undefined && timestamp !== 'unset'
  return withoutUndefined({
    content,
    tags: tags.length > 0 ? tags : undefined,
    metadata: context ? { ...metadata, [CONTEXT_KEY]: context } : metadata,
    document_id: documentId,
    replace_document: documentId === undefined || mode === 'append' ? undefined : true,
    occurred_at: isDated ? readInstant(`${at}timestamp`, timestamp) : undefined,
  })
}

function recalled (
  answer: RecallAnswer, ranked: readonly Hit[],
  { include = {}, trace, max_tokens: maxTokens = DEFAULT_MAX_TOKENS }: Static<typeof RecallBody>,
) {
  const hits = fitting(ranked, maxTokens)
  return {
    results: hits.map((hit) => ({
      ...factOf(hit),
      entities: null,
      source_fact_ids: null,
      scores: {
        final: hit.score,
        semantic: hit.scores?.semantic?.score ?? null,
        keyword: hit.scores?.lexical?.score ?? null,
        reranker: hit.scores?.rerank?.score ?? null,
      },
    })),
    ...(trace === true && { trace: { ...answer.trace, candidates: answer.total_available } }),
    // There are no entities and no observations, so requests for them get none.
    ...(include.entities && { entities: {} }),
    ...(include.source_facts && { source_facts: {} }),
    ...(include.chunks && { chunks: chunksOf(hits, include.chunks.max_tokens ?? DEFAULT_CHUNK_TOKENS) }),
    ...(answer.degraded && { degraded: answer.degraded }),
  }
}

/** The hits in order while what is shown of them fits; the first that does not fit ends the list. */
function fitting (hits: readonly Hit[], maxTokens: number): readonly Hit[] {
  let remaining = maxTokens * TOKEN_CHARACTERS
  const end = hits.findIndex((hit) => (remaining -= factOf(hit).text.length) < 0)
  return end === -1 ? hits : hits.slice(0, end)
}

/** The whole memories within the budget; one that does not fit is replaced by the passage that matched. */
function chunksOf (hits: readonly Hit[], maxTokens: number) {
  const chunks: Record<string, object> = {}
  let remaining = maxTokens * TOKEN_CHARACTERS
  for (const { memory_id: id, text: whole, passages = [] } of hits) {
    const found = [whole, ...passages.slice(0, 1).map(({ text }) => text)].find(({ length }) => length <= remaining)
    if (found === undefined) continue
    remaining -= found.length
    chunks[id] = { id, text: found, chunk_index: 0, truncated: found !== whole }
  }
  return chunks
}

/** As in Hindsight, the context becomes part of the question. */
function questionOf ({ query, context }: Static<typeof ReflectBody>): string {
  if (context === undefined) return query
  const whole = `${query}\n\nAdditional context: ${context}`
  if (whole.length > MAX_QUERY_CHARACTERS) {
    throw invalid('context', `query and context together must have at most ${MAX_QUERY_CHARACTERS} characters`)
  }
  return whole
}

function reflected ({ answer, sources, structured, usage }: ReflectAnswer, facts: boolean) {
  return {
    text: answer,
    ...(facts && { based_on: { memories: sources.map(factOf), mental_models: [], directives: [] } }),
    structured_output: structured ?? null,
    usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, total_tokens: usage.tokens },
    trace: null,
  }
}
