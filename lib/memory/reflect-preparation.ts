import { formatAtOffset, formatInstant } from '../time/clock.js'
import { Deadline, type Timer } from '../concurrency/deadline.js'
import { ServiceError } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import type { JsonSchema, LanguageModel } from '../models/language-model.js'
import type { Admission } from '../policy/admission.js'
import type { Filters } from '../stores/vector-store.js'
import { isAtLeast, type Trust } from '../identity/trust.js'
import type { Dependencies } from './dependencies.js'
import type { MeteredCall } from './metered-language-model.js'
import { commonSettings } from './file-settings.js'
import type { SearchOptions } from './operation-options.js'
import { openSearchedBanks, tokenBudget } from './recall-service.js'
import { readFilters, readReference, toHit } from './records.js'
import { retrievalRequest } from './retrieval-request.js'
import type { AnswerRequest } from './reflect-answer.js'
import { selectEvidence, withLaterStatements, reflectPrompt } from '../answering/evidence.js'
import { checkResponseSchema } from '../answering/response-schema.js'
import { wrapSchema } from '../answering/structured.js'
import { STRUCTURED_OUTPUT_ADVICE, lateFailure, modelFailure } from './model-errors.js'
import type { Hit, IncludedSources, ReflectAnswer, ReflectRequest } from './schemas.js'

/** Number of candidates from which evidence is selected: more than fit, because those that do not fit are skipped. */
const CANDIDATES = 60
const DEFAULT_MAX_TOKENS = 1024
/** The part of the deadline reserved for the response that reports a missed deadline. */
const RESERVE_MS = 100
/** For a short deadline the reserve is this share of it, so that the model has the rest. */
const RESERVE_SHARE = 0.1

export interface ReflectOptions {
  /** Answers in the extractive mode. */
  readonly extractive: LanguageModel
  readonly timer: Timer
  /** Makes a new random delimiter of 32 hexadecimal digits. */
  readonly newBoundary: () => string
}

/** A reflect that is ready for the model. */
export interface ReflectRun {
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
export async function prepareReflect (
  request: ReflectRequest, context: RequestContext, deps: Dependencies,
  { timer, newBoundary }: ReflectOptions, { signal }: SearchOptions,
): Promise<ReflectRun> {
  const { live, retriever, meteredModel, clock } = deps
  const banks = await openSearchedBanks(request, context, deps)
  const settings = commonSettings(banks, live.current)
  const { reflect } = settings
  const filters = atLeast(readFilters(request), reflect.minTrust)
  const reference = readReference(request)
  const schema = request.response_schema === undefined ? undefined : checkResponseSchema(request.response_schema)
  if (schema !== undefined && !meteredModel.isStructured) {
    throw new ServiceError(
      'not_supported', `The configured language model cannot answer by a response_schema: ${STRUCTURED_OUTPUT_ADVICE}`,
    )
  }
  const ceiling = reflect.timeoutMs
  const deadline = new Deadline(Math.min(request.timeout_ms ?? ceiling, ceiling), { signal, timer })
  const admission = deps.admission.admit('reflect', context, banks)
  try {
    const admitted = await deadline.wait(admission)
    const bounds = { query: request.query, limit: CANDIDATES, minScore: reflect.minScore }
    const retrieval = {
      ...retrievalRequest({ bounds, banks, filters, settings, reference, signal: deadline.signal }),
      sufficientCosine: deps.embeddings.evidenceCosine,
    }
    const retrieved = await deadline.wait(retriever.retrieve(retrieval))
    const { candidates, degraded } = await deadline.wait(withLaterStatements(retrieved, retrieval, retriever, {
      maxMemories: reflect.maxEvidence, warn: deps.warn,
    }))
    const { hits, evidence } = await deadline.wait(selectEvidence(candidates, {
      maxMemories: reflect.maxEvidence,
      maxTokens: tokenBudget(reflect.maxEvidenceTokens, banks.map(({ settings }) => settings.tokenBudgets.recall))!,
      minTrust: filters.minTrust,
    }))
    const ceilings = banks.map(({ settings }) => settings.tokenBudgets.reflect)
    const maxTokens = tokenBudget(request.max_tokens, ceilings) ?? DEFAULT_MAX_TOKENS
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
export function reflectFailure (error: unknown, deadline: Deadline): unknown {
  const failure = modelFailure(error)
  const isLate = failure?.code === 'dependency_unavailable' &&
    deadline.remainingMs() <= 2 * Math.min(RESERVE_MS, deadline.timeoutMs * RESERVE_SHARE)
  return isLate ? lateFailure(error) : failure ?? error
}

/** Raises the minimum trust of the filters to a floor. */
function atLeast (filters: Filters, floor: Trust | undefined): Filters {
  if (floor === undefined) return filters
  const { minTrust } = filters
  return { ...filters, minTrust: minTrust !== undefined && isAtLeast(minTrust, floor) ? minTrust : floor }
}
