import { formatInstant } from '../time/clock.js'
import { Deadline, DeadlineExceeded, type Timer } from '../concurrency/deadline.js'
import { ServiceError } from '../errors/service-error.js'
import { callerOf, type RequestContext } from '../identity/context.js'
import type { JsonSchema, LanguageModel } from '../models/language-model.js'
import type { Admission } from '../policy/admission.js'
import type { Filters } from '../stores/vector-store.js'
import { inTurns } from '../concurrency/steps.js'
import { isAtLeast, type Trust } from '../identity/trust.js'
import { turns } from '../concurrency/turn-budget.js'
import type { Dependencies } from './dependencies.js'
import type { MeteredCall } from './metered-language-model.js'
import { commonSettings } from './file-settings.js'
import { readableBanks, tokenBudget } from './recall-service.js'
import { readFilters, readReference, toHit } from './records.js'
import { answerInForm, answerInPieces, answerWhole, extractiveAnswer, type ModelAnswer, type ModelQuestion } from './reflect/answering.js'
import { evidenceSteps } from './reflect/evidence.js'
import { reflectPrompt } from './reflect/prompt.js'
import { checkResponseSchema } from './reflect/response-schema.js'
import { wrapSchema } from './reflect/structured.js'
import { NO_USAGE, type ModelUsage } from './model-usage.js'
import { HOW_TO_HAVE_STRUCTURE, lateFailure, modelFailure } from './model-errors.js'
import type { Hit, ReflectAnswer, ReflectRequest } from './schemas.js'

/** Candidates that evidence is picked from: more than fit, for those that do not fit are passed over. */
const CANDIDATES = 60
const DEFAULT_MAX_TOKENS = 1024
/** What is kept of a deadline to say in time that the model missed it. */
const RESERVE_MS = 100
/** The same for a short deadline: a part of it, or nothing would be left. */
const RESERVE_SHARE = 0.1
const NO_EVIDENCE = 'There are no memories that answer this.'

export interface ReflectOptions {
  /** Answers in the extractive mode. */
  extractive: LanguageModel
  timer: Timer
  /** A fresh word of 32 hexadecimal digits that nobody can guess. */
  newBoundary: () => string
}

/** What a reflect tells bit by bit: the evidence first, then texts, the cost, and what the answer as a whole is. */
export type ReflectEvent =
  | { event: 'evidence', data: { sources: Hit[] } }
  | { event: 'delta', data: { text: string } }
  | { event: 'usage', data: ReflectAnswer['usage'] }
  | { event: 'done', data: Conclusion }

type Conclusion = Omit<ReflectAnswer, 'sources' | 'usage'>

/** One reflect on its way. */
interface PreparedReflect {
  admitted: Admission
  deadline: Deadline
  degraded: NonNullable<ReflectAnswer['degraded']>
  sources: Hit[]
  /** Undefined when there is no evidence. */
  question: ModelQuestion | undefined
  schema: JsonSchema | undefined
}

/** reflect: recall, pick evidence, one model call over it, and of its answer what the evidence bears out. */
export class ReflectService {
  readonly #deps: Dependencies
  readonly #options: ReflectOptions

  constructor (deps: Dependencies, options: ReflectOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** @throws ServiceError */
  async reflect (request: ReflectRequest, context: RequestContext, signal?: AbortSignal): Promise<ReflectAnswer> {
    const ground = await this.#begin(request, context, signal)
    const { deadline, question, schema, sources } = ground
    try {
      if (question === undefined) return { ...this.#abstention(ground), sources: [], usage: usageOf(NO_USAGE) }
      const { answered, degraded } = await this.#orExtractive(ground, question, async () => await deadline.wait(schema === undefined
        ? answerWhole(question)
        : answerInForm(question, schema)))
      return { ...this.#conclusion(ground, answered, degraded), sources: answered.abstained ? [] : sources, usage: usageOf(answered.spent) }
    } catch (error) {
      ground.admitted.release()
      throw error
    } finally {
      deadline.end()
    }
  }

  /**
   * The same as events. What is wrong with the request, and a recall that fails, is thrown by the first step; so nothing has been said
   * yet then. A consumer that stops reading ends the model's call.
   * @throws ServiceError
   */
  async * stream (request: ReflectRequest, context: RequestContext, signal?: AbortSignal): AsyncGenerator<ReflectEvent, void> {
    const ground = await this.#begin(request, context, signal)
    const { deadline, question, schema, sources } = ground
    // From the first words on: whoever leaves then has had them.
    let counts = false
    try {
      yield { event: 'evidence', data: { sources } }
      if (question === undefined) {
        counts = true
        yield { event: 'usage', data: usageOf(NO_USAGE) }
        yield { event: 'done', data: this.#abstention(ground) }
        return
      }
      let given = ''
      let outcome: { answered: ModelAnswer, degraded: boolean }
      if (schema === undefined) {
        const pieces = answerInPieces(question)
        try {
          let answered: ModelAnswer | undefined
          while (answered === undefined) {
            const { done, value } = await deadline.wait(pieces.next())
            if (done === true) answered = value
            else {
              given += value
              counts = true
              yield { event: 'delta', data: { text: value } }
            }
          }
          outcome = { answered, degraded: false }
        } catch (error) {
          // What has been said cannot be taken back, so another answer cannot follow it.
          if (given !== '') throw this.#failure(error, deadline)
          outcome = await this.#orExtractive(ground, question, async () => { throw error })
        } finally {
          void pieces.return(undefined as never).catch(() => {})
        }
      } else {
        outcome = await this.#orExtractive(ground, question, async () => await deadline.wait(answerInForm(question, schema)))
      }
      const { answered, degraded } = outcome
      const done = this.#conclusion(ground, answered, degraded)
      counts = true
      if (given === '') yield { event: 'delta', data: { text: done.answer } }
      yield { event: 'usage', data: usageOf(answered.spent) }
      yield { event: 'done', data: done }
    } catch (error) {
      counts &&= callerLeft(deadline)
      throw error
    } finally {
      if (!counts) ground.admitted.release()
      deadline.end()
    }
  }

  /** Everything up to the model: access, limits, recall, evidence, prompt. */
  async #begin (request: ReflectRequest, context: RequestContext, signal: AbortSignal | undefined): Promise<PreparedReflect> {
    const { live, retriever, meteredModel, clock } = this.#deps
    const { timer } = this.#options
    const caller = callerOf(context)
    const banks = await readableBanks(request, context, this.#deps)
    const { reflect, retrieval } = commonSettings(banks, live.current)
    const filters = atLeast(readFilters(request), reflect.minTrust)
    const { reference } = readReference(request)
    const schema = request.response_schema === undefined ? undefined : checkResponseSchema(request.response_schema)
    if (schema !== undefined && !meteredModel.isStructured) throw new ServiceError('not_supported', `The configured language model cannot answer by a response_schema: ${HOW_TO_HAVE_STRUCTURE}`)
    const ceiling = reflect.timeoutMs
    const deadline = new Deadline(Math.min(request.timeout_ms ?? ceiling, ceiling), signal, timer)
    const admission = this.#deps.admission.admit('reflect', context, banks)
    try {
      const admitted = await deadline.wait(admission)
      await deadline.wait(turns.next(caller))
      const retrieved = await deadline.wait(retriever.retrieve({
        caller,
        query: request.query,
        banks: banks.map(({ key }) => key),
        settings: retrieval,
        filters,
        ...(reference !== undefined && { reference }),
        limit: CANDIDATES,
        minScore: reflect.minScore,
        signal: deadline.signal,
      }))
      const { hits, evidence } = await deadline.wait(inTurns(evidenceSteps(retrieved.hits, {
        maxMemories: reflect.maxEvidence,
        maxTokens: tokenBudget(reflect.maxEvidenceTokens, banks.map(({ settings }) => settings.tokenBudgets.recall))!,
        ...(filters.minTrust !== undefined && { minTrust: filters.minTrust }),
      }), caller))
      const ceilings = banks.map(({ settings }) => settings.tokenBudgets.reflect)
      const maxTokens = tokenBudget(request.max_tokens, ceilings) ?? DEFAULT_MAX_TOKENS
      const leftMs = deadline.leftMs()
      const call: Omit<MeteredCall, 'messages'> = {
        purpose: 'reflect',
        banks,
        grounding: { question: request.query, evidence },
        maxTokens,
        timeoutMs: Math.max(1, leftMs - Math.min(RESERVE_MS, leftMs * RESERVE_SHARE)),
        tenantId: context.tenantId,
        signal: deadline.signal,
        ...(schema !== undefined && { responseSchema: wrapSchema(schema) }),
      }
      const messages = () => reflectPrompt({
        question: request.query,
        evidence,
        boundary: this.#options.newBoundary(),
        now: formatInstant(reference ?? clock()),
        missions: banks.flatMap(({ key, settings: { mission } }) => mission === undefined ? [] : [{ bankId: key.bankId, mission }]),
        ...(request.instructions !== undefined && { instructions: request.instructions }),
        ...(call.responseSchema !== undefined && { schema: call.responseSchema }),
      })
      return {
        admitted,
        deadline,
        degraded: [...retrieved.degraded],
        sources: request.include_sources === false ? [] : hits.map((hit) => toHit(hit, false)),
        question: hits.length === 0
          ? undefined
          : {
              meteredModel,
              call: { ...call, messages: messages() },
              deadline,
              caller,
              linkable: evidence.filter(({ trust }) => trust !== 'suspect').map(({ text }) => text),
            },
        schema,
      }
    } catch (error) {
      // Also what is granted later than anybody waits for it.
      void admission.then(({ release }) => { release() }, () => {})
      deadline.end()
      throw this.#failure(error, deadline)
    }
  }

  /** Answers with sentences of the evidence when the model cannot be had and the configuration wants it so. */
  async #orExtractive (ground: PreparedReflect, question: ModelQuestion, answer: () => Promise<ModelAnswer>): Promise<{ answered: ModelAnswer, degraded: boolean }> {
    try {
      return { answered: await answer(), degraded: false }
    } catch (error) {
      const failure = this.#failure(error, ground.deadline)
      // A store that cannot count the call says so itself, and is no fault of the model.
      const isStores = error instanceof ServiceError && error.code === 'dependency_unavailable'
      const isModels = !isStores && ['dependency_unavailable', 'deadline_exceeded', 'overloaded', 'model_output_invalid'].includes(failure.code)
      // Sentences of memories have no form, so a caller that asked for one is told the truth.
      if (!isModels || callerLeft(ground.deadline) || ground.schema !== undefined || this.#deps.live.current.degradedMode === 'error') throw failure
      this.#deps.warn(`reflect answers without the language model, from the sentences of memories: ${failure.cause instanceof Error ? failure.cause.message : failure.detail}`)
      return { answered: await extractiveAnswer(this.#options.extractive, question), degraded: true }
    }
  }

  /** A model that missed the deadline of the request has not failed by itself. */
  #failure (error: unknown, deadline: Deadline): ServiceError {
    const failure = modelFailure(error)
    const isLate = failure.code === 'dependency_unavailable' && deadline.leftMs() <= 2 * Math.min(RESERVE_MS, deadline.timeoutMs * RESERVE_SHARE)
    return isLate ? lateFailure(error) : failure
  }

  #abstention ({ degraded }: PreparedReflect): Conclusion {
    return { answer: NO_EVIDENCE, abstained: true, ...(degraded.length > 0 && { degraded }) }
  }

  #conclusion (ground: PreparedReflect, answered: ModelAnswer, extractive: boolean): Conclusion {
    if (answered.abstained) return this.#abstention(ground)
    const degraded = [...ground.degraded, ...(extractive ? ['model' as const] : [])]
    return {
      answer: answered.text,
      abstained: false,
      ...(answered.structured !== undefined && { structured: answered.structured }),
      ...(answered.unverified && { unverified: true }),
      ...(answered.truncated && { truncated: true }),
      ...(degraded.length > 0 && { degraded }),
    }
  }
}

function callerLeft ({ signal }: Deadline): boolean {
  return signal.aborted && !(signal.reason instanceof DeadlineExceeded)
}

/** The filters with a floor under their trust. */
function atLeast (filters: Filters, floor: Trust | undefined): Filters {
  if (floor === undefined) return filters
  return { ...filters, minTrust: filters.minTrust !== undefined && isAtLeast(filters.minTrust, floor) ? filters.minTrust : floor }
}

function usageOf ({ inputTokens, outputTokens, cost }: ModelUsage): ReflectAnswer['usage'] {
  return { tokens: inputTokens + outputTokens, input_tokens: inputTokens, output_tokens: outputTokens, ...(cost !== undefined && { cost }) }
}
