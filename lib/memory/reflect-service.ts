import { DeadlineExceeded, type Deadline } from '../concurrency/deadline.js'
import { ServiceError } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import type { Dependencies } from './dependencies.js'
import { NO_USAGE, type ModelUsage } from './model-usage.js'
import { prepareReflect, reflectFailure, type ReflectOptions, type ReflectRun } from './reflect-preparation.js'
import type { SearchOptions } from './operation-options.js'
import {
  generateStructuredAnswer, streamAnswer, generateAnswer, extractiveAnswer, type AnswerRequest, type ModelAnswer,
} from './reflect-answer.js'
import type { ReflectAnswer, ReflectEvent, ReflectRequest, ReflectSource } from './schemas.js'

const NO_EVIDENCE = 'There are no memories that answer this.'

type Conclusion = Omit<ReflectAnswer, 'usage'>

/** The reflect operation: recall, select evidence, call the model with it, and filter the citations of its answer. */
export class ReflectService {
  readonly #deps: Dependencies
  readonly #options: ReflectOptions

  constructor (deps: Dependencies, options: ReflectOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** @throws ServiceError */
  async reflect (
    request: ReflectRequest, context: RequestContext, options: SearchOptions = {},
  ): Promise<ReflectAnswer> {
    const run = await prepareReflect(request, context, this.#deps, this.#options, options)
    const { deadline, question, schema } = run
    try {
      if (question === undefined) return { ...this.#abstention(run), usage: usageOf(NO_USAGE) }
      const { answered, degraded } = await this.#withExtractiveFallback(run, question, async () => (
        await deadline.wait(
          schema === undefined ? generateAnswer(question) : generateStructuredAnswer(question, schema),
        )
      ))
      return { ...this.#conclusion(run, answered, degraded), usage: usageOf(answered.usage) }
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
  async * stream (
    request: ReflectRequest, context: RequestContext, options: SearchOptions = {},
  ): AsyncGenerator<ReflectEvent, void> {
    const run = await prepareReflect(request, context, this.#deps, this.#options, options)
    const { deadline, question, schema, evidence, includedSources } = run
    // Whether the quota counts this reflect: from the first text on, however the stream ends.
    let counts = false
    try {
      yield { event: 'evidence', data: { sources: includedSources === false ? [] : [...evidence] } }
      if (question === undefined) {
        counts = true
        yield { event: 'usage', data: usageOf(NO_USAGE) }
        yield { event: 'done', data: this.#abstention(run) }
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
          outcome = await this.#withExtractiveFallback(run, question, async () => { throw error })
        } finally {
          void stream.return(undefined as never).catch(() => {})
        }
      } else {
        outcome = await this.#withExtractiveFallback(run, question, async () => (
          await deadline.wait(generateStructuredAnswer(question, schema))
        ))
      }
      const { answered, degraded } = outcome
      const done = this.#conclusion(run, answered, degraded)
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
  async #withExtractiveFallback (
    run: ReflectRun, question: AnswerRequest, answer: () => Promise<ModelAnswer>,
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
        this.#deps.live.current.degradedMode === 'error') throw failure
      this.#deps.warn('reflect answers without the language model, from the sentences of memories: ' +
        `${failure.cause instanceof Error ? failure.cause.message : failure.detail}`)
      return { answered: await extractiveAnswer(this.#options.extractive, question), degraded: true }
    }
  }

  #abstention ({ degraded }: Pick<ReflectRun, 'degraded'>): Conclusion {
    return { answer: NO_EVIDENCE, abstained: true, sources: [], degraded: degraded.length > 0 ? degraded : undefined }
  }

  #conclusion (run: ReflectRun, answered: ModelAnswer, extractive: boolean): Conclusion {
    const degraded = [...run.degraded, ...(extractive ? ['model' as const] : [])]
    if (answered.abstained) return this.#abstention({ degraded })
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
