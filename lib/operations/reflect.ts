import { Type } from 'typebox'
import { isAtLeast, type Trust } from '../access/trust.js'
import { reflectPrompt, selectEvidence, withLaterStatements } from '../answering/evidence.js'
import { checkResponseSchema } from '../answering/response-schema.js'
import { asksForPast } from '../answering/statements.js'
import { wrapSchema } from '../answering/structured.js'
import { formatAtOffset, formatInstant } from '../base/clock.js'
import { Deadline, DeadlineExceeded } from '../base/deadline.js'
import { withoutUndefined } from '../base/members.js'
import { ServiceError } from '../base/service-error.js'
import type { JsonSchema } from '../models/language-model.js'
import { candidateKey, type RetrievedHit } from '../ranking/candidates.js'
import type { RetrievalRequest } from '../ranking/retriever.js'
import { compileFilters } from '../stores/filters.js'
import type { Filters, Memory } from '../stores/vector-store.js'
import type { Admission } from './admission.js'
import type { Call, Dependencies } from './dependencies.js'
import { fittingMemories, isCut, MemoryView } from './memory-view.js'
import { type MeteredCall, type ModelUsage, NO_USAGE } from './metered-language-model.js'
import { lateFailure, modelFailure, STRUCTURED_OUTPUT_ADVICE } from './model-errors.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { toHit } from './records.js'
import {
  type AnswerRequest, extractiveAnswer, generateAnswer, generateStructuredAnswer, type ModelAnswer, streamAnswer,
} from './reflect-answer.js'
import {
  type Hit, type IncludedSources, ReflectAnswer, reflectConclusion, type ReflectEvent, ReflectRequest,
  type ReflectSource, strict,
} from './schemas.js'
import { openSearch, retrievalOf, tokenBudget } from './search.js'

export const reflect = operation({
  name: 'reflect',
  tag: 'memory',
  permission: 'read',
  summary: 'Answer a question from memories',
  description: 'The answer cites its sources as [1], [2], in the order of `sources`. Without evidence, the service ' +
    'abstains and calls no model.',
  request: ReflectRequest,
  answer: ReflectAnswer,
  errors: [
    ...LIMIT_ERRORS, 'answer_too_large', 'too_many_streams', 'model_output_invalid', 'overloaded',
    'deadline_exceeded', 'not_supported',
  ],
  tool: {
    title: 'Answer from memories',
    description: 'Answers a question from memories and returns the sources that the answer cites as [1], [2]. ' +
      'Abstains when the memories do not answer the question. Requires exactly one of bank_id and banks.',
    omit: ['response_schema', 'timeout_ms'],
    output: strict({
      answer: reflectConclusion.answer,
      abstained: reflectConclusion.abstained,
      unverified: reflectConclusion.unverified,
      truncated: Type.Optional(Type.Boolean({
        description: 'True when max_tokens or the limit on answers cut the answer; absent otherwise.',
      })),
      degraded: Type.Optional(Type.Array(Type.String(), { description: 'What was not available for the answer.' })),
      sources: Type.Array(MemoryView, {
        description: 'What the answer cites, in the order of the citation numbers; the rest of the evidence follows ' +
          'with `include_sources: "all"`.',
      }),
      sources_truncated: Type.Optional(Type.Boolean({
        description: 'True when the limit on answers cut the sources; absent otherwise.',
      })),
    }),
    shape: async (ask, { max_tokens: wanted, ...request }, budget) => {
      const given = await ask({ ...request, max_tokens: Math.min(wanted ?? budget.remaining, budget.remaining) })
      const { abstained, unverified, truncated, degraded, sources } = given
      const cut = await budget.cut(given.answer)
      const evidence = await fittingMemories(sources, budget)
      return withoutUndefined({
        answer: cut ?? given.answer,
        abstained,
        unverified,
        truncated: truncated === true || cut !== undefined ? true : undefined,
        degraded,
        sources: evidence,
        sources_truncated: isCut(evidence, sources) ? true : undefined,
      })
    },
  },
  run: answerQuestion,
})

const NO_EVIDENCE = 'There are no memories that answer this.'

type Conclusion = Omit<ReflectAnswer, 'usage'>

/** @throws ServiceError */
async function answerQuestion (
  deps: Dependencies, request: ReflectRequest, call: Call,
): Promise<ReflectAnswer> {
  const run = await prepareReflect(deps, request, call)
  const { deadline, question, schema } = run
  try {
    if (question === undefined) return { ...abstention(run), usage: usageOf(NO_USAGE) }
    const { answered, degraded } = await withExtractiveFallback(deps, run, question, async () => (
      await deadline.wait(
        schema === undefined ? generateAnswer(question) : generateStructuredAnswer(question, schema),
      )
    ))
    return { ...conclusionOf(run, answered, degraded), usage: usageOf(answered.usage) }
  } catch (error) {
    run.admitted.release()
    throw error
  } finally {
    deadline.end()
  }
}

/**
 * Streams the answer as events. Errors of the request and of the recall are thrown before the first event. A consumer
 * that stops reading ends the model's call.
 * @throws ServiceError
 */
export async function * reflectStream (
  deps: Dependencies, request: ReflectRequest, call: Call,
): AsyncGenerator<ReflectEvent, void> {
  const run = await prepareReflect(deps, request, call)
  const { deadline, question, schema, evidence, includedSources } = run
  // Whether the quota counts this reflect: from the first text on, however the stream ends.
  let counts = false
  try {
    yield { event: 'evidence', data: { sources: includedSources === false ? [] : [...evidence] } }
    if (question === undefined) {
      counts = true
      yield { event: 'usage', data: usageOf(NO_USAGE) }
      yield { event: 'done', data: abstention(run) }
      return
    }
    let streamed = ''
    let outcome: { answered: ModelAnswer, degraded: boolean }
    if (schema === undefined) {
      const stream = streamAnswer(question)
      try {
        let answered: ModelAnswer | undefined
        while (answered === undefined) {
          const { done, value } = await deadline.wait(stream.next())
          if (done === true) answered = value
          else {
            streamed += value
            counts = true
            yield { event: 'delta', data: { text: value } }
          }
        }
        outcome = { answered, degraded: false }
      } catch (error) {
        // Text that was sent cannot be withdrawn, so another answer cannot follow it.
        if (streamed !== '') throw reflectFailure(error, deadline)
        outcome = await withExtractiveFallback(deps, run, question, async () => { throw error })
      } finally {
        void stream.return(undefined as never).catch(() => {})
      }
    } else {
      outcome = await withExtractiveFallback(deps, run, question, async () => (
        await deadline.wait(generateStructuredAnswer(question, schema))
      ))
    }
    const { answered, degraded } = outcome
    const done = conclusionOf(run, answered, degraded)
    counts = true
    if (streamed === '') yield { event: 'delta', data: { text: done.answer } }
    yield { event: 'usage', data: usageOf(answered.usage) }
    yield { event: 'done', data: done }
  } finally {
    if (!counts) run.admitted.release()
    deadline.end()
  }
}

/** Falls back to sentences of the evidence when the model fails and the configuration allows it. */
async function withExtractiveFallback (
  deps: Dependencies, run: ReflectRun, question: AnswerRequest, answer: () => Promise<ModelAnswer>,
): Promise<{ answered: ModelAnswer, degraded: boolean }> {
  try {
    return { answered: await answer(), degraded: false }
  } catch (error) {
    const failure = reflectFailure(error, run.deadline)
    // A store that fails to count the call throws this error itself; the model is not at fault then.
    const isStores = error instanceof ServiceError && error.code === 'dependency_unavailable'
    const isModels = !isStores && failure instanceof ServiceError &&
      ['dependency_unavailable', 'deadline_exceeded', 'overloaded', 'model_output_invalid'].includes(failure.code)
    // Sentences of memories cannot satisfy a schema, so a caller with a schema gets the error.
    if (!isModels || callerHasAborted(run.deadline) || run.schema !== undefined ||
      deps.live.current.degradedMode === 'error') throw failure
    deps.warn('reflect answers without the language model, from the sentences of memories: ' +
      `${failure.cause instanceof Error ? failure.cause.message : failure.detail}`)
    return { answered: await extractiveAnswer(deps.extractive, question), degraded: true }
  }
}

function abstention ({ degraded }: Pick<ReflectRun, 'degraded'>): Conclusion {
  return { answer: NO_EVIDENCE, abstained: true, sources: [], degraded: degraded.length > 0 ? degraded : undefined }
}

function conclusionOf (run: ReflectRun, answered: ModelAnswer, extractive: boolean): Conclusion {
  const degraded = [...run.degraded, ...(extractive ? ['model' as const] : [])]
  if (answered.abstained) return abstention({ degraded })
  return {
    answer: answered.text,
    abstained: false,
    sources: sourcesOf(run, answered.cited),
    structured: answered.structured,
    unverified: answered.unverified || undefined,
    truncated: answered.truncated || undefined,
    degraded: degraded.length > 0 ? degraded : undefined,
  }
}

/** What the answer cites in the order of its marks, then the rest of the evidence if it is wanted. */
function sourcesOf ({ evidence, includedSources }: ReflectRun, cited: readonly number[]): ReflectSource[] {
  if (includedSources === false) return []
  const sources = cited.map((number) => ({ ...evidence[number - 1]!, cited: true }))
  if (includedSources === 'cited') return sources
  const numbers = new Set(cited)
  const rest = evidence.filter((_, index) => !numbers.has(index + 1))
  return [...sources, ...rest.map((hit) => ({ ...hit, cited: false }))]
}

function callerHasAborted ({ signal }: Deadline): boolean {
  return signal.aborted && !(signal.reason instanceof DeadlineExceeded)
}

function usageOf ({ inputTokens, outputTokens, cost }: ModelUsage): ReflectAnswer['usage'] {
  return {
    tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost,
  }
}

/** Number of candidates from which evidence is selected: more than fit, because those that do not fit are skipped. */
const CANDIDATES = 60
const DEFAULT_MAX_TOKENS = 1024
/** The part of the deadline reserved for the response that reports a missed deadline. */
const RESERVE_MS = 100
/** For a short deadline the reserve is this share of it, so that the model has the rest. */
const RESERVE_SHARE = 0.1

/** A reflect that is ready for the model. */
interface ReflectRun {
  readonly admitted: Admission
  readonly deadline: Deadline
  readonly degraded: NonNullable<ReflectAnswer['degraded']>
  /** The evidence by its number in the prompt, from 1. */
  readonly evidence: readonly Hit[]
  readonly includedSources: IncludedSources
  /** The call of the model; undefined when there is no evidence. */
  readonly question: AnswerRequest | undefined
  readonly schema: JsonSchema | undefined
}

/**
 * Performs all steps before the model call: access, limits, recall, evidence and prompt.
 * @throws ServiceError
 */
async function prepareReflect (
  deps: Dependencies, request: ReflectRequest, caller: Call,
): Promise<ReflectRun> {
  const { context, signal } = caller
  const { retriever, meteredModel, clock, timer, newBoundary } = deps
  const search = await openSearch(request, context, deps)
  const { banks, reference, settings: { reflect } } = search
  const filters = atLeast(search.filters, reflect.min_trust)
  const schema = request.response_schema === undefined ? undefined : checkResponseSchema(request.response_schema)
  if (schema !== undefined && !meteredModel.isStructured) {
    throw new ServiceError(
      'not_supported', `The configured language model cannot answer by a response_schema: ${STRUCTURED_OUTPUT_ADVICE}`,
    )
  }
  const ceiling = reflect.timeout_ms
  const deadline = new Deadline(Math.min(request.timeout_ms ?? ceiling, ceiling), { signal, timer })
  const admission = deps.admission.admit('reflect', caller, banks)
  try {
    const admitted = await deadline.wait(admission)
    const retrieval = {
      ...retrievalOf({ query: request.query }, search),
      filters,
      limit: CANDIDATES,
      minScore: reflect.min_score,
      maxTokens: undefined,
      signal: deadline.signal,
      sufficientCosine: deps.embeddings.evidenceCosine,
    }
    const [first, fromPast] = await deadline.wait(Promise.all([
      retriever.retrieve(retrieval), request.state === undefined ? hitsFromPast(deps, retrieval, request.query) : [],
    ]))
    const retrieved = { ...first, hits: withHits(first.hits, fromPast) }
    const { candidates, degraded } = await deadline.wait(withLaterStatements(retrieved, retrieval, retriever, {
      maxMemories: reflect.max_evidence, warn: deps.warn,
    }))
    const { hits, evidence } = await deadline.wait(selectEvidence(candidates, {
      maxMemories: reflect.max_evidence,
      maxTokens: tokenBudget(reflect.max_evidence_tokens, banks, 'recall_max_tokens')!,
      minTrust: filters.minTrust,
    }))
    const maxTokens = tokenBudget(request.max_tokens, banks, 'reflect_max_tokens') ?? DEFAULT_MAX_TOKENS
    const leftMs = deadline.remainingMs()
    const call: Omit<MeteredCall, 'messages'> = {
      purpose: 'reflect',
      banks,
      grounding: { question: request.query, evidence },
      maxTokens,
      timeoutMs: Math.max(1, leftMs - Math.min(RESERVE_MS, leftMs * RESERVE_SHARE)),
      tenantId: context.tenantId,
      signal: deadline.signal,
      responseSchema: schema && wrapSchema(schema),
    }
    const messages = () => reflectPrompt({
      query: request.query,
      evidence,
      boundary: newBoundary(),
      now: reference === undefined ? formatInstant(clock()) : formatAtOffset(reference.instant, reference.utcOffset),
      missions: banks.flatMap(({ key, settings: { mission } }) => (
        mission === undefined ? [] : [{ bankId: key.bankId, mission }]
      )),
      instructions: request.instructions,
      schema: call.responseSchema,
    })
    return {
      admitted,
      deadline,
      degraded: [...degraded],
      evidence: hits.map((hit) => toHit(hit)),
      includedSources: request.include_sources === true ? 'cited' : request.include_sources ?? 'cited',
      question: hits.length === 0
        ? undefined
        : {
            meteredModel,
            call: { ...call, messages: messages() },
            deadline,
            linkableTexts: evidence.filter(({ trust }) => trust !== 'suspect').map(({ text }) => text),
          },
      schema,
    }
  } catch (error) {
    // Releases an admission that is granted after the wait for it has ended, too.
    void admission.then(({ release }) => { release() }, () => {})
    deadline.end()
    throw reflectFailure(error, deadline)
  }
}

/**
 * Maps an error to the one for the client. A failure near the deadline of the request is reported as late, not as a
 * fault of the model. A fault of the gateway stays as it is.
 */
function reflectFailure (error: unknown, deadline: Deadline): unknown {
  const failure = modelFailure(error)
  const isLate = failure?.code === 'dependency_unavailable' &&
    deadline.remainingMs() <= 2 * Math.min(RESERVE_MS, deadline.timeoutMs * RESERVE_SHARE)
  return isLate ? lateFailure(error) : failure ?? error
}

/** Superseded memories that are looked at, and how far is followed what took their places. */
const MAX_SUPERSEDED = 10
const MAX_STEPS = 10

/**
 * The superseded memories that a question for what was so before finds, and for any other question what stands in their
 * places: a new fact is often told in other words than the question, which the old one has. Their scores are those of a
 * search of their own, in which they do not compete with what is current.
 */
async function hitsFromPast (
  { clock, retriever, store }: Dependencies, retrieval: RetrievalRequest, question: string,
): Promise<RetrievedHit[]> {
  const { filters } = retrieval
  const isPast = asksForPast(question)
  if (store.revise === undefined || (filters.asOf !== undefined && !isPast)) return []
  const { hits } = await retriever.retrieve({
    ...retrieval, filters: { ...filters, state: 'history' }, limit: MAX_SUPERSEDED,
  })
  if (isPast) return hits.filter(({ memory }) => memory.state === 'superseded')
  const passes = compileFilters(filters) ?? (() => true)
  const found: RetrievedHit[] = []
  for (const hit of hits) {
    let memory: Memory | undefined = hit.memory
    for (let steps = 0; steps < MAX_STEPS && memory?.state === 'superseded'; steps++) {
      const by: string | null = memory.supersededBy
      memory = by === null ? undefined : await store.get(hit.bank, by, clock())
    }
    if (memory?.state === 'current' && passes(memory)) found.push({ ...hit, memory, passageCount: 1, passages: [] })
  }
  return found
}

/** Each hit once, with its best score. */
function withHits (hits: readonly RetrievedHit[], others: readonly RetrievedHit[]): RetrievedHit[] {
  if (others.length === 0) return [...hits]
  const best = new Map<string, RetrievedHit>()
  for (const hit of [...hits, ...others]) {
    const known = best.get(candidateKey(hit))
    if (known === undefined || known.score < hit.score) {
      // The passages that matched are those of the memory itself.
      const { score, similarity } = hit
      best.set(candidateKey(hit), known === undefined ? hit : { ...known, score, similarity })
    }
  }
  return [...best.values()].sort((a, b) => b.score - a.score)
}

/** Raises the minimum trust of the filters to a floor. */
function atLeast (filters: Filters, floor: Trust | undefined): Filters {
  if (floor === undefined) return filters
  const { minTrust } = filters
  return { ...filters, minTrust: minTrust !== undefined && isAtLeast(minTrust, floor) ? minTrust : floor }
}
