import { DeadlineExceeded, type Timer } from '../base/deadline.js'
import type { Telemetry } from '../base/telemetry.js'
import { openSpan, SpanKind, type OpenSpan } from '../base/tracing.js'
import {
  promptTokens, type Generation, type GenerateRequest, type GenerationPart, type LanguageModel, type TokenUsage,
} from '../models/language-model.js'
import { countTokens } from '../text/tokens.js'
import type { AdmissionControl, LimitedBank, Reservation } from './admission.js'
import { asModelError, callOutcome, reachedTheModel, UnusableGeneration, unusableFor } from './model-errors.js'

/** The usage of the language model: tokens, and a cost when the model has a price. */
export interface ModelUsage extends TokenUsage {
  cost?: number | undefined
}

export const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0 }

export function addUsage (one: ModelUsage, other: ModelUsage): ModelUsage {
  const cost = one.cost === undefined && other.cost === undefined ? undefined : (one.cost ?? 0) + (other.cost ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost,
  }
}

type CallPurpose = 'reflect' | 'rewrite' | 'rerank' | 'extract'

/** Prices per million tokens. */
export interface Price {
  input: number
  output: number
}

interface MeteredLanguageModelOptions {
  languageModel: LanguageModel
  /** Name of the provider in the configuration. */
  provider: string
  /** By the name of the model. */
  prices: Readonly<Record<string, Price>>
  admission: Pick<AdmissionControl, 'reserveModelCall'>
  telemetry: Telemetry
  timer: Timer
}

/** A call with its purpose and the banks whose budgets it uses. */
export interface MeteredCall extends GenerateRequest {
  purpose: CallPurpose
  /** The banks whose budgets the call counts against. */
  banks: readonly LimitedBank[]
}

/** Wraps the language model: reserves budgets before a call, and reports usage, cost and outcome after it. */
export class MeteredLanguageModel {
  readonly #options: MeteredLanguageModelOptions
  readonly #model: string
  #price: Price | undefined

  constructor (options: MeteredLanguageModelOptions) {
    this.#options = options
    this.#model = options.languageModel.model ?? options.provider
    this.#price = this.#priceIn(options.prices)
  }

  /** Replaces the prices for future calls. */
  replacePrices (prices: Readonly<Record<string, Price>>): void {
    this.#price = this.#priceIn(prices)
  }

  get model (): string {
    return this.#model
  }

  /** Whether the model supports a response schema. */
  get isStructured (): boolean {
    return this.#options.languageModel.structured ?? true
  }

  /**
   * @throws ServiceError quota_exceeded or dependency_unavailable before the call; UnusableGeneration; errors of the
   * model
   */
  async generate (call: MeteredCall): Promise<Generation & { usage: ModelUsage }> {
    const account = await this.#open(call)
    try {
      const generation: unknown = await account.span.within(async () => (
        await this.#options.languageModel.generate({ ...call, progress: account.progress })
      ))
      if (!isUsable(generation)) throw unusableFor((generation as Partial<Generation> | null | undefined)?.finish)
      const usage = account.settle(generation.usage, generation.finish)
      return { ...generation, usage }
    } catch (error) {
      account.fail(error, '')
      throw asModelError(error, call.signal)
    }
  }

  /**
   * Streams a generation; the last part has the usage. A model without streaming yields one text. A consumer that stops
   * reading ends the call, and the text up to then is charged.
   */
  async * stream (call: MeteredCall): AsyncGenerator<
    Exclude<GenerationPart, { type: 'end' }> | { type: 'end', usage: ModelUsage, finish?: Generation['finish'] }
  > {
    const { languageModel } = this.#options
    if (languageModel.stream === undefined) {
      const { text, usage, finish } = await this.generate(call)
      yield { type: 'text', text }
      yield { type: 'end', usage, finish }
      return
    }
    const account = await this.#open(call)
    let text = ''
    try {
      // A generator runs in the async context of its consumer, so each step is requested within the span.
      const parts = languageModel.stream({ ...call, progress: account.progress })[Symbol.asyncIterator]()
      try {
        for (;;) {
          const { done, value } = await account.span.within(async () => await parts.next())
          if (done === true) throw new UnusableGeneration()
          if (value.type === 'text') {
            text += value.text
            yield value
            continue
          }
          if (text.trim() === '' || !isUsage(value.usage)) throw unusableFor(value.finish)
          yield { ...value, usage: account.settle(value.usage, value.finish) }
          return
        }
      } finally {
        await parts.return?.()
      }
    } catch (error) {
      account.fail(error, text)
      throw asModelError(error, call.signal)
    } finally {
      // The account is still open here only when the consumer has left.
      account.fail(undefined, text)
    }
  }

  #priceIn (prices: Readonly<Record<string, Price>>): Price | undefined {
    return Object.hasOwn(prices, this.#model) ? prices[this.#model] : undefined
  }

  async #open (call: MeteredCall): Promise<CallAccount> {
    const { admission, provider, telemetry, timer } = this.#options
    let inputTokens = 0
    const reservation = await admission.reserveModelCall(call.banks, async () => {
      inputTokens = await promptTokens(call.messages)
      return inputTokens + call.maxTokens
    })
    // The caller left while the store counted the call, so no call is made.
    if (call.signal?.aborted === true) {
      reservation.settle(0, false)
      call.signal.throwIfAborted()
    }
    const span = openSpan(`chat ${this.#model}`, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': this.#model,
      'gen_ai.request.max_tokens': call.maxTokens,
    }, SpanKind.CLIENT)
    const labels = { provider, model: this.#model }
    return new CallAccount({ call, reservation, inputTokens, span, price: this.#price, telemetry, timer, labels })
  }
}

interface CallAccountOptions {
  call: MeteredCall
  reservation: Reservation
  /** Tokens of the prompt, counted for the reservation; 0 when no budget needs them. */
  inputTokens: number
  span: OpenSpan
  price: Price | undefined
  telemetry: Telemetry
  timer: Timer
  labels: { provider: string, model: string }
}

/** Settles the budget and reports the telemetry of one call, once. */
class CallAccount {
  readonly span: OpenSpan
  readonly #options: CallAccountOptions
  readonly #startedAt: number
  #closed = false
  /** Whether the call was made, as far as known. */
  #isMade = true

  constructor (options: CallAccountOptions) {
    this.#options = options
    this.span = options.span
    this.#startedAt = options.timer()
  }

  readonly progress: NonNullable<GenerateRequest['progress']> = (state) => { this.#isMade = state === 'made' }

  settle (usage: TokenUsage, finish: Generation['finish']): ModelUsage {
    const { price, reservation, span } = this.#options
    const spending: ModelUsage = {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      cost: price && costOf(usage, price),
    }
    reservation.settle(usage.inputTokens + usage.outputTokens, true)
    span.set({
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'gen_ai.response.finish_reasons': [finish],
    })
    span.end()
    this.#report('ok', spending)
    return spending
  }

  /**
   * @param error undefined when the consumer left
   * @param text the text received up to then
   */
  fail (error: unknown, text: string): void {
    if (this.#closed) return
    const { call, reservation, inputTokens, span } = this.#options
    const { aborted = false, reason }: Partial<AbortSignal> = call.signal ?? {}
    // The deadline and a caller who leaves abort the call through the same signal; the reason distinguishes them.
    const isLate = reason instanceof DeadlineExceeded
    const why: unknown = isLate ? reason : error
    const callerAborted = !isLate && (aborted || error === undefined)
    // The provider charges for what its endpoint has processed, even without an answer.
    if (this.#isMade && (callerAborted || reachedTheModel(why))) {
      reservation.settle(() => inputTokens + countTokens(text), true)
    } else {
      reservation.settle(0, false)
    }
    span.end(why ?? new DOMException('The reader left', 'AbortError'))
    this.#report(callerAborted ? 'aborted' : callOutcome(why), {})
  }

  #report (outcome: string, spending: Partial<ModelUsage>): void {
    this.#closed = true
    const { call, labels, telemetry, timer } = this.#options
    telemetry.modelCall({
      kind: 'llm', ...labels, purpose: call.purpose, outcome, durationMs: timer() - this.#startedAt, ...spending,
    })
  }
}

function costOf ({ inputTokens, outputTokens }: TokenUsage, { input, output }: Price): number {
  return Number(((inputTokens * input + outputTokens * output) / 1_000_000).toPrecision(12))
}

/** A model class of the operator may return anything. */
function isUsable (value: unknown): value is Generation {
  const generation = value as Partial<Generation> | null | undefined
  return typeof generation?.text === 'string' && generation.text.trim() !== '' && isUsage(generation.usage)
}

function isUsage (usage: Partial<TokenUsage> | undefined): usage is TokenUsage {
  return [usage?.inputTokens, usage?.outputTokens].every((count) => Number.isInteger(count) && count! >= 0)
}
