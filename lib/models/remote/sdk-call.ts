import { ReadableStream } from 'node:stream/web'
import {
  APICallError, InvalidResponseDataError,
  type LanguageModelV3, type LanguageModelV3CallOptions, type LanguageModelV3FinishReason, type LanguageModelV3StreamPart, type LanguageModelV3Usage, type SharedV3Warning,
} from '@ai-sdk/provider'
import { countTokens } from '../../text/tokens.js'
import { turns } from '../../concurrency/turn-budget.js'
import type { Finish, GenerateRequest, Generation, GenerationPart, TokenUsage } from '../language-model.js'
import { mendedEvents, mendUsage } from './answer-repair.js'
import { promptTokens } from '../prompt-tokens.js'
import type { Endpoint } from './endpoint.js'
import { errorWithin } from './exchange.js'
import { member } from './member.js'
import { ModelCallError } from './model-call-error.js'
import { ThoughtFilter, withoutThoughts } from './thoughts.js'

/** Room of an answer beside its text, and for a token of it: in JSON, and in an event of its own. */
const ENVELOPE_BYTES = 1024 * 1024
const TOKEN_BYTES = 64
const TOKEN_EVENT_BYTES = 2048
/** Tokens that there is room for at most: a caller may ask for any number, and must not lift the bound with it. */
const ROOM_TOKENS = 65_536
/** No call costs more: what is beyond is a mistake. */
const MOST_TOKENS = 100_000_000

/** Calls that began together are answered together, by a model that takes its time: they share the event loop as one caller. */
const ANSWERS = ' answers of models'

export interface SdkCallOptions {
  endpoint: Endpoint
  /** A model of the SDK that asks through this function. */
  makeModel: (fetch: typeof globalThis.fetch) => LanguageModelV3
  /** What is asked for, in the SDK's words. */
  options: LanguageModelV3CallOptions
  maxTokens: number
  request: GenerateRequest
  /** Takes what the SDK has not sent, though it was to. */
  warn: (warnings: readonly SharedV3Warning[]) => void
}

/** One attempt to have an answer, as the AI SDK speaks the protocol. Its own errors hold texts, URLs and answers, and none gets out. */
export class SdkCall {
  readonly #options: SdkCallOptions
  readonly #signal: AbortSignal
  readonly #model: LanguageModelV3
  /** Why the exchange failed; the SDK throws something else then. */
  #fault: unknown
  /** Whether a stream has told what answer it belongs to. */
  #hasBegun = false

  constructor (options: SdkCallOptions) {
    this.#options = options
    this.#signal = options.request.signal ?? new AbortController().signal
    this.#model = options.makeModel(async (url, init) => await this.#fetch(String(url), init))
  }

  /**
   * @returns the answer, whatever its text
   * @throws ModelCallError; the signal's reason once it is aborted
   */
  async generate (): Promise<Required<Generation>> {
    const { options, request, warn } = this.#options
    try {
      const { content, finishReason, usage, warnings } = await this.#model.doGenerate({ ...options, abortSignal: this.#signal })
      warn(warnings)
      const text = content.map((part) => part.type === 'text' ? part.text : '').join('')
      return { text: withoutThoughts(text), usage: usageOf(usage, request, text), finish: finishOf(finishReason) }
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /**
   * @returns texts that are not empty, and the end
   * @throws as generate()
   */
  async * stream (): AsyncGenerator<Extract<GenerationPart, { type: 'text' }> | Required<Extract<GenerationPart, { type: 'end' }>>, void, undefined> {
    const { options, request, warn } = this.#options
    const texts: string[] = []
    const thoughts = new ThoughtFilter()
    try {
      const { stream } = await this.#model.doStream({ ...options, abortSignal: this.#signal })
      for await (const part of stream) {
        if (part.type === 'stream-start') warn(part.warnings)
        else if (part.type === 'response-metadata') this.#hasBegun = true
        else if (part.type === 'error') throw this.#failure(part)
        else if (part.type === 'text-delta' && part.delta !== '') {
          texts.push(part.delta)
          const text = thoughts.push(part.delta)
          if (text !== '') yield { type: 'text', text }
        } else if (part.type === 'finish') {
          const rest = thoughts.end()
          if (rest !== '') yield { type: 'text', text: rest }
          yield { type: 'end', usage: usageOf(part.usage, request, texts.join('')), finish: finishOf(part.finishReason) }
          return
        }
      }
      throw this.#unfinished()
    } catch (error) {
      throw this.#explain(error)
    }
  }

  async #fetch (url: string, init: RequestInit | undefined): Promise<Response> {
    const { endpoint, maxTokens } = this.#options
    const room = Math.min(maxTokens, ROOM_TOKENS)
    const address = new URL(url)
    for (const [name, value] of Object.entries(endpoint.queryParams)) address.searchParams.set(name, value)
    const request = { headers: Object.fromEntries(new Headers(init?.headers)), body: String(init?.body), signal: this.#signal }
    const isStream = member(JSON.parse(request.body), 'stream') === true
    try {
      if (!isStream) {
        const text = await endpoint.post(address.href, request, ENVELOPE_BYTES + room * TOKEN_BYTES)
        await turns.next(ANSWERS)
        return new Response(mendUsage(text))
      }
      const body = await endpoint.postForStream(address.href, request, ENVELOPE_BYTES + room * TOKEN_EVENT_BYTES)
      return new Response(ReadableStream.from(this.#watched(mendedEvents(body))))
    } catch (error) {
      this.#fault = error
      throw error
    }
  }

  async * #watched (events: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield * events
    } catch (error) {
      this.#fault = error
      throw error
    }
  }

  /** An error of the SDK, or what the endpoint sent in place of the rest. */
  #failure ({ error }: Extract<LanguageModelV3StreamPart, { type: 'error' }>): Error {
    return error instanceof Error ? error : errorWithin(this.#options.endpoint.what, error, this.#options.endpoint.secrets)
  }

  #explain (error: unknown): unknown {
    const { endpoint: { what, secrets } } = this.#options
    if (this.#signal.aborted) return this.#signal.reason
    if (this.#fault instanceof ModelCallError) return this.#fault
    if (error instanceof ModelCallError) return error
    const sent = APICallError.isInstance(error) && error.statusCode !== 200 ? parsed(error.responseBody) : undefined
    // The exchange lets no answer of an error through, so it is one that the endpoint sent in place of a stream; or an error of the SDK's own.
    if (typeof member(sent, 'type') === 'string') return errorWithin(what, sent, secrets)
    return InvalidResponseDataError.isInstance(error) ? this.#unfinished() : this.#unusable()
  }

  #unfinished (): ModelCallError {
    return this.#hasBegun ? new ModelCallError('unreachable', `The ${this.#options.endpoint.what} broke off its answer`) : this.#unusable()
  }

  #unusable (): ModelCallError {
    return new ModelCallError('unusable', `The ${this.#options.endpoint.what} answered with something else than an answer of a language model`, { status: 200 })
  }
}

function finishOf ({ unified }: LanguageModelV3FinishReason): Finish {
  if (unified === 'length') return 'length'
  return unified === 'content-filter' ? 'filtered' : 'stop'
}

/** What the endpoint counted, or what is counted here when that cannot be. */
function usageOf ({ inputTokens, outputTokens }: LanguageModelV3Usage, { messages }: GenerateRequest, text: string): TokenUsage {
  return {
    inputTokens: plausible(inputTokens.total) ?? promptTokens(messages),
    outputTokens: plausible(outputTokens.total) ?? countTokens(text),
  }
}

/** The SDK takes what is missing for 0. */
function plausible (tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && tokens! > 0 && tokens! <= MOST_TOKENS ? tokens : undefined
}

function parsed (text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
