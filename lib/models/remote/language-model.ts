import { ReadableStream } from 'node:stream/web'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError, InvalidResponseDataError, TypeValidationError, type LanguageModelV3, type LanguageModelV3CallOptions,
  type LanguageModelV3Message, type SharedV3Warning, type LanguageModelV3FinishReason, type LanguageModelV3StreamPart,
  type LanguageModelV3Usage,
} from '@ai-sdk/provider'
import { TIMED_OUT, withTimeout } from '../../base/deadline.js'
import { parsedJson } from '../../base/json-object.js'
import { withoutUndefined } from '../../base/members.js'
import { ProviderError, type ProviderConfig, type ProviderContext } from '../../config/providers/registry.js'
import { AnthropicLanguageSettings, OpenAiLanguageSettings } from '../../config/providers/schemas/language-models.js'
import { settingsCheck } from '../../config/providers/settings.js'
import { sumTokens, TokenCount } from '../../text/tokens.js'
import type { CallLimits, LimitedModel } from '../bounded-models.js'
import {
  promptTokens, type GenerateRequest, type Generation, type GenerationPart, type JsonSchema, type LanguageModel,
  type Message, type Finish, type TokenUsage,
} from '../language-model.js'
import { openAddress, checkCombinations, errorWithin, member, type Endpoint, type RemoteTools } from './endpoint.js'
import { ModelCallError } from './model-call-error.js'
import { ResilientCalls } from './resilient-calls.js'

const KEY = 'llm_provider_config'
const SERVICE = 'language model'
const OPENAI = 'openaiCompatible'

type ResponseFormat = LanguageModelV3CallOptions['responseFormat']

interface Parts {
  endpoint: Endpoint
  model: string
  limits: CallLimits
  /** Makes the model of the SDK, which sends its requests with this function. */
  makeModel: (fetch: typeof globalThis.fetch) => LanguageModelV3
  /** What is sent with every request. */
  sampling: Pick<LanguageModelV3CallOptions, 'temperature' | 'topP' | 'providerOptions'>
  /** Upper limit of the request's own maximum. */
  maxOutputTokens: number
  /** How JSON is requested; undefined: by the prompt alone. */
  responseFormat: (schema: JsonSchema) => ResponseFormat
  /** Writes a sentence to the operator's log. */
  warn: (message: string) => void
}

/**
 * A language model behind HTTP. A call is one attempt without bounds; boundedLanguageModel() applies the `limits`.
 */
class RemoteLanguageModel implements LanguageModel, LimitedModel {
  readonly model: string
  readonly limits: CallLimits
  readonly #parts: Parts
  /** Settings of which the SDK has reported that it does not send them. */
  readonly #unsent = new Set<string>()

  constructor (parts: Parts) {
    this.#parts = parts
    this.model = parts.model
    this.limits = parts.limits
  }

  /** @throws ModelCallError; the reason of the signal once it is aborted */
  async generate (request: GenerateRequest): Promise<Generation> {
    const generation = await this.#call(request).generate()
    if (generation.text.trim() === '' && generation.finish !== 'filtered') throw this.#withoutText(generation.finish)
    return generation
  }

  /** @throws as generate() */
  async * stream (request: GenerateRequest): AsyncGenerator<GenerationPart, void, undefined> {
    let isEmpty = true
    for await (const part of this.#call(request).stream()) {
      if (part.type === 'text') isEmpty &&= part.text.trim() === ''
      else if (isEmpty && part.finish !== 'filtered') throw this.#withoutText(part.finish)
      yield part
    }
  }

  /**
   * Makes a minimal call.
   * @throws ModelCallError; the reason of the signal once it is aborted
   */
  async ping (signal: AbortSignal): Promise<void> {
    // The newest models of OpenAI accept no maximum below 16; a reasoning model may use all of it.
    const messages: Message[] = [{ role: 'user', content: 'Say OK.' }]
    await this.#call({ messages, grounding: { question: '', evidence: [] }, maxTokens: 16, signal }).generate()
  }

  #call (request: GenerateRequest): SdkCall {
    const { endpoint, makeModel, sampling, maxOutputTokens, responseFormat } = this.#parts
    const maxTokens = Math.min(request.maxTokens, maxOutputTokens)
    const format = request.responseSchema === undefined ? undefined : responseFormat(request.responseSchema)
    return new SdkCall({
      endpoint,
      makeModel,
      maxTokens,
      request,
      options: withoutUndefined({
        prompt: request.messages.map(toSdk),
        maxOutputTokens: maxTokens,
        ...sampling,
        responseFormat: format,
      }),
      warn: (warnings) => { this.#warn(warnings) },
    })
  }

  /** Warns once for each setting, because settings do not change while the process runs. */
  #warn (warnings: readonly SharedV3Warning[]): void {
    for (const warning of warnings) {
      const feature = 'feature' in warning ? warning.feature : undefined
      if (feature === undefined || this.#unsent.has(feature)) continue
      this.#unsent.add(feature)
      this.#parts.warn(`${KEY}: ${feature} cannot be sent to ${this.model} as it is set`)
    }
  }

  #withoutText (finish: Generation['finish']): ModelCallError {
    // The caller sets the maximum, and a low one must not open the circuit for other callers.
    const cutShort = finish === 'length'
    const message = `The ${SERVICE} answered without a text${cutShort ? ': it used up its tokens before' : ''}`
    return new ModelCallError('unusable', message, { status: 200, cutShort })
  }
}

function toSdk ({ role, content }: Message): LanguageModelV3Message {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] }
}

/** The schema is sent unchanged; the endpoint validates it. */
function jsonFormat (schema: JsonSchema): ResponseFormat {
  return { type: 'json', schema, name: 'answer' }
}

/**
 * Makes the language model `openai_compatible`; it speaks the chat completions of the OpenAI API.
 * @throws ProviderError for wrong settings, and when the probe fails; no secret is shown
 */
export async function makeOpenAiLanguageModel (
  config: ProviderConfig, context: ProviderContext, tools: RemoteTools = {},
): Promise<RemoteLanguageModel> {
  const settings = checkOpenAi(config)
  const endpoint = openAddress(KEY, SERVICE, settings, context, tools)
  const { structured_outputs: takesSchema, max_tokens_parameter: ceilingName } = settings
  return await openModel(settings, context, tools, {
    endpoint,
    makeModel: (fetch) => createOpenAICompatible({
      name: OPENAI,
      baseURL: endpoint.baseUrl,
      fetch,
      includeUsage: true,
      supportsStructuredOutputs: takesSchema,
      transformRequestBody: ({ max_tokens: ceiling, ...body }) => ({ ...body, [ceilingName]: ceiling as unknown }),
    }).chatModel(settings.model),
    // Strict mode supports only a part of JSON Schema, and refuses other schemas of callers.
    sampling: { ...sampling(settings), providerOptions: { [OPENAI]: { strictJsonSchema: false } } },
    maxOutputTokens: settings.max_output_tokens ?? Infinity,
    responseFormat: takesSchema ? jsonFormat : () => ({ type: 'json' }),
  })
}

/**
 * Makes the language model `anthropic`; it speaks the messages API.
 * @throws ProviderError for wrong settings, and when the probe fails; no secret is shown
 */
export async function makeAnthropicLanguageModel (
  config: ProviderConfig, context: ProviderContext, tools: RemoteTools = {},
): Promise<RemoteLanguageModel> {
  const settings = checkAnthropic(config)
  checkCombinations(KEY, 'anthropic', settings)
  const endpoint = openAddress(KEY, SERVICE, settings, context, tools, (key) => ({ 'x-api-key': key }))
  return await openModel(settings, context, tools, {
    endpoint,
    makeModel: (fetch) => createAnthropic({
      baseURL: endpoint.baseUrl,
      // Without it the SDK reads a key from the environment. The endpoint adds the configured key, if there is one.
      apiKey: 'none',
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers)
        headers.delete('x-api-key')
        return await fetch(url, { ...init, headers })
      },
    })(settings.model),
    sampling: sampling(settings),
    maxOutputTokens: settings.max_output_tokens,
    responseFormat: settings.structured_outputs ? jsonFormat : () => undefined,
  })
}

const checkOpenAi = settingsCheck(KEY, OpenAiLanguageSettings)
const checkAnthropic = settingsCheck(KEY, AnthropicLanguageSettings)

type Settings = OpenAiLanguageSettings | AnthropicLanguageSettings

function sampling ({ temperature, top_p: topP }: Settings): Parts['sampling'] {
  return withoutUndefined({ temperature, topP })
}

async function openModel (
  settings: Settings,
  { warn = () => {} }: ProviderContext,
  tools: RemoteTools,
  parts: Omit<Parts, 'model' | 'limits' | 'warn'>,
): Promise<RemoteLanguageModel> {
  const limits: CallLimits = {
    attemptTimeoutMs: settings.timeout_ms,
    maxRetries: settings.max_retries,
    maxConcurrency: settings.max_concurrency,
    maxWaiting: settings.max_waiting,
  }
  const model = new RemoteLanguageModel({ ...parts, model: settings.model, limits, warn })
  if (settings.probe) await probe(model, warn, tools)
  return model
}

/**
 * Calls a model once, with retries. An exhausted rate limit is only a warning, because it shows that key, model and
 * address are right.
 * @throws ProviderError that names the fault
 */
async function probe (
  model: RemoteLanguageModel, warn: (message: string) => void, tools: RemoteTools,
): Promise<void> {
  // A circuit that opened between the attempts would hide their error.
  const calls = new ResilientCalls({
    service: SERVICE, ...model.limits, breaker: { threshold: Infinity, recoveryMs: 0 }, tools,
  })
  try {
    await calls.call(async (signal) => { await model.ping(signal) })
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    if (error.kind === 'rate_limited') warn(`${KEY}: ${error.message} when it was probed`)
    else throw new ProviderError(`${KEY}: the probe failed, ${reasonOf(error)}: ${error.message}`)
  }
}

function reasonOf ({ kind, status }: ModelCallError): string {
  if (status === 401 || status === 403) return 'the key is refused'
  if (status === 404) return 'base_url or model is not known there'
  if (kind === 'rejected') return 'the request is refused; look at model and max_tokens_parameter'
  if (kind === 'unusable') return 'base_url is not that of such an API'
  if (kind === 'timeout') return 'there is no answer in time'
  return status === undefined ? 'there is no connection' : 'the endpoint is in trouble'
}

/** Bytes of an answer besides its text, and bytes of a token in JSON and in an event of its own. */
const ENVELOPE_BYTES = 1024 * 1024
const TOKEN_BYTES = 64
const TOKEN_EVENT_BYTES = 2048
/** Maximum number of tokens in the size bound of an answer, whatever number the caller asks for. */
const ROOM_TOKENS = 65_536
/** A count above this is an error of the endpoint. */
const MAX_TOKENS = 100_000_000

/** The types of events that must be as the protocol of Anthropic says. */
const EVENTS: ReadonlySet<string> = new Set([
  'message_start', 'message_delta', 'message_stop', 'content_block_start', 'content_block_delta', 'content_block_stop',
  'ping', 'error',
])

type SdkPart = Extract<GenerationPart, { type: 'text' }> | Required<Extract<GenerationPart, { type: 'end' }>>

interface SdkCallOptions {
  endpoint: Endpoint
  /** Makes the model of the SDK, which sends its requests with this function. */
  makeModel: (fetch: typeof globalThis.fetch) => LanguageModelV3
  /** The options of the SDK. */
  options: LanguageModelV3CallOptions
  maxTokens: number
  request: GenerateRequest
  /** Gets the settings that the SDK has not sent. */
  warn: (warnings: readonly SharedV3Warning[]) => void
}

/**
 * One attempt at an answer through the AI SDK, whose errors contain texts, URLs and answers and so are not passed on.
 */
class SdkCall {
  readonly #options: SdkCallOptions
  readonly #signal: AbortSignal
  readonly #model: LanguageModelV3
  /** The error of the exchange, which the SDK replaces by one of its own. */
  #fault: unknown
  /** Whether a stream has sent the metadata of its answer. */
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
      const answer = await this.#model.doGenerate({ ...options, abortSignal: this.#signal })
      const { content, finishReason, usage, warnings, response } = answer
      warn(warnings)
      const text = content.map((part) => part.type === 'text' ? part.text : '').join('')
      const finish = isRefusal(response?.body, 'message') ? 'filtered' : finishOf(finishReason)
      return { text: withoutReasoning(text), usage: await usageOf(usage, request, text), finish }
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /**
   * @returns texts that are not empty, and the end
   * @throws as generate()
   */
  async * stream (): AsyncGenerator<SdkPart, void, undefined> {
    const { options, request, warn } = this.#options
    const texts: string[] = []
    const filter = new ReasoningFilter()
    let isRefused = false
    let ignored: unknown
    try {
      const { stream } = await this.#model.doStream({
        ...options, abortSignal: this.#signal, includeRawChunks: true,
      })
      for await (const part of stream) {
        if (part.type === 'stream-start') warn(part.warnings)
        else if (part.type === 'response-metadata') this.#hasBegun = true
        else if (part.type === 'raw') isRefused ||= isRefusal(part.rawValue, 'delta')
        else if (part.type === 'error') {
          if (!isOfNewEvent(part.error)) throw this.#failure(part)
          ignored = part.error.value
        } else if (part.type === 'text-delta' && part.delta !== '') {
          texts.push(part.delta)
          const text = filter.push(part.delta)
          if (text !== '') yield { type: 'text', text }
        } else if (part.type === 'finish') {
          // Servers of the protocol of OpenAI also end a stream with an error that has no member `error`.
          if (part.finishReason.unified === 'error') throw this.#failure({ type: 'error', error: ignored })
          const rest = filter.end()
          if (rest !== '') yield { type: 'text', text: rest }
          const finish = isRefused ? 'filtered' : finishOf(part.finishReason)
          yield { type: 'end', usage: await usageOf(part.usage, request, texts.join('')), finish }
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
    const tokens = Math.min(maxTokens, ROOM_TOKENS)
    const address = new URL(url)
    for (const [name, value] of Object.entries(endpoint.queryParams)) address.searchParams.set(name, value)
    const headers = Object.fromEntries(new Headers(init?.headers))
    const request = { headers, body: String(init?.body), signal: this.#signal }
    const isStream = member(JSON.parse(request.body), 'stream') === true
    try {
      if (!isStream) {
        const text = await endpoint.post(address.href, request, ENVELOPE_BYTES + tokens * TOKEN_BYTES)
        return new Response(repairUsage(text))
      }
      const body = await endpoint.postForStream(address.href, request, ENVELOPE_BYTES + tokens * TOKEN_EVENT_BYTES)
      return new Response(ReadableStream.from(this.#watched(repairedEvents(body))))
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

  /** The error of the SDK, or the one that the endpoint sent in place of the rest. */
  #failure ({ error }: Extract<LanguageModelV3StreamPart, { type: 'error' }>): Error {
    const { service, secrets } = this.#options.endpoint
    return error instanceof Error ? error : errorWithin(service, error, secrets)
  }

  #explain (error: unknown): unknown {
    const { endpoint: { service, secrets } } = this.#options
    if (this.#signal.aborted) return this.#signal.reason
    if (this.#fault instanceof ModelCallError) return this.#fault
    if (error instanceof ModelCallError) return error
    const reported = APICallError.isInstance(error) ? reportedError(error) : undefined
    if (reported !== undefined) return errorWithin(service, reported, secrets)
    return InvalidResponseDataError.isInstance(error) ? this.#unfinished() : this.#unusable()
  }

  #unfinished (): ModelCallError {
    if (!this.#hasBegun) return this.#unusable()
    return new ModelCallError('unreachable', `The ${this.#options.endpoint.service} broke off its answer`)
  }

  #unusable (): ModelCallError {
    const message = `The ${this.#options.endpoint.service} answered with something else than an answer of a ` +
      'language model'
    return new ModelCallError('unusable', message, { status: 200 })
  }
}

/**
 * The error that an endpoint sent with status 200 instead of an answer or a stream. The exchange throws for an error
 * status, so another status is one that the SDK gives to the first error of a stream.
 */
function reportedError ({ statusCode, responseBody }: APICallError): object | undefined {
  const body = parsedJson(responseBody ?? '')
  const error = statusCode === 200 ? member(body, 'error') : body
  const isReport = statusCode === 200 || typeof member(error, 'type') === 'string'
  return isReport && typeof error === 'object' && error !== null ? error : undefined
}

function finishOf ({ unified }: LanguageModelV3FinishReason): Finish {
  if (unified === 'length') return 'length'
  return unified === 'content-filter' ? 'filtered' : 'stop'
}

/**
 * Whether the first choice of an answer in the protocol of OpenAI is a refusal, which has this member instead of a
 * content and the finish reason of any answer.
 */
function isRefusal (answer: unknown, place: 'message' | 'delta'): boolean {
  const choices = member(answer, 'choices')
  const refusal = member(member(Array.isArray(choices) ? choices[0] : undefined, place), 'refusal')
  return typeof refusal === 'string' && refusal !== ''
}

/**
 * Whether the SDK does not know an event. The Messages API may add types of events, which clients are to ignore.
 */
function isOfNewEvent (error: unknown): error is TypeValidationError {
  const type = TypeValidationError.isInstance(error) ? member(error.value, 'type') : undefined
  return typeof type === 'string' && !EVENTS.has(type)
}

/** The endpoint's count, or our own when that is implausible. */
async function usageOf (
  { inputTokens, outputTokens }: LanguageModelV3Usage, { messages }: GenerateRequest, text: string,
): Promise<TokenUsage> {
  return {
    inputTokens: plausible(inputTokens.total) ?? await promptTokens(messages),
    outputTokens: plausible(outputTokens.total) ?? await sumTokens([TokenCount.of(text)]),
  }
}

/** The SDK reports a missing count as 0. */
function plausible (tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && tokens! > 0 && tokens! <= MAX_TOKENS ? tokens : undefined
}

/** Milliseconds that an endpoint has to end its answer after the last event, which keeps the connection reusable. */
const END_TIMEOUT_MS = 250

/**
 * Repairs the token counts of an answer, because the SDK refuses an answer whose count is missing or not a number.
 * Invalid counts are removed, and where the SDK requires one it becomes 0, which means unknown, since no answer with a
 * text costs 0 tokens.
 * @param text JSON of an answer or an event; anything else is returned unchanged
 */
export function repairUsage (text: string): string {
  const parsed = parsedJson(text)
  if (typeof parsed !== 'object' || parsed === null) return text
  const type = member(parsed, 'type')
  if (type === 'message_start') {
    const message = member(parsed, 'message')
    const usage = { input_tokens: 0, ...numbersOf(member(message, 'usage')) }
    return JSON.stringify({ ...parsed, message: { ...Object(message), usage } })
  }
  const usage = numbersOf(member(parsed, 'usage'))
  if (type === 'message') return JSON.stringify({ ...parsed, usage: { input_tokens: 0, output_tokens: 0, ...usage } })
  if (type === 'message_delta') return JSON.stringify({ ...parsed, usage: { output_tokens: 0, ...usage } })
  return 'usage' in parsed ? JSON.stringify({ ...parsed, usage }) : text
}

function numbersOf (usage: unknown): Record<string, number> {
  const entries = typeof usage === 'object' && usage !== null ? Object.entries(usage) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])))
}

/** Events that have token counts, or must have them. */
const COUNTING = /"usage"|"message_start"|"message_delta"/
const LAST = /^data: ?(\[DONE\]|.*"message_stop")/

/**
 * Server-sent events, each with repairUsage(), up to the last event of the protocol, even when the endpoint keeps the
 * connection open.
 * @throws what the body fails with
 */
export async function * repairedEvents (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** The pieces of an incomplete line. */
  let begun: string[] = []
  let isOver = false
  const lineOf = (rest: string) => {
    const line = [...begun, rest].join('')
    begun = []
    if (LAST.test(line)) isOver = true
    return line.startsWith('data:') && COUNTING.test(line)
      ? `data: ${repairUsage(line.slice('data:'.length))}\n`
      : `${line}\n`
  }
  try {
    for (;;) {
      const chunk = await withTimeout(reader.read(), isOver ? END_TIMEOUT_MS : Infinity)
      if (chunk === TIMED_OUT || chunk.done) break
      const pieces = decoder.decode(chunk.value, { stream: true }).split('\n')
      const last = pieces.pop()!
      const lines = pieces.map(lineOf)
      begun.push(last)
      if (lines.length > 0) yield encoder.encode(lines.join(''))
    }
    // An event is complete only with an empty line after it.
    if (isOver) yield encoder.encode('\n')
  } finally {
    // Cancelling a body that has failed rejects again.
    await reader.cancel().catch(() => {})
  }
}

const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Removes the reasoning of a model, which some servers of open models (DeepSeek, Qwen and others) send as text between
 * `<think>` and `</think>`. It does so only at the beginning of an answer; elsewhere the tags are text. What was held
 * back is not read again with each piece, because a model may send tens of thousands of blank ones.
 */
export class ReasoningFilter {
  /** The pieces that are part of the answer unless the opening tag follows. */
  readonly #held: string[] = []
  /** The beginning of the opening tag, or the last characters of the reasoning. */
  #tail = ''
  #state: 'before' | 'thinking' | 'answering' = 'before'

  /** @returns the part of the piece that is known to belong to the answer */
  push (piece: string): string {
    if (this.#state === 'answering') return piece
    if (this.#state === 'thinking') return this.#think(this.#tail + piece)
    const begun = this.#tail === '' ? piece.trimStart() : this.#tail + piece
    if (begun.startsWith(OPENING)) {
      this.#state = 'thinking'
      return this.#think(begun.slice(OPENING.length))
    }
    this.#held.push(piece)
    if (begun.length >= OPENING.length || !OPENING.startsWith(begun)) return this.#release()
    this.#tail = begun
    return ''
  }

  /** @returns the text that was held back and turned out not to be reasoning */
  end (): string {
    return this.#state === 'before' ? this.#release() : ''
  }

  #release (): string {
    this.#state = 'answering'
    return this.#held.join('')
  }

  #think (text: string): string {
    const end = text.indexOf(CLOSING)
    if (end < 0) {
      // As many characters as may be the beginning of the closing tag.
      this.#tail = text.slice(-(CLOSING.length - 1))
      return ''
    }
    this.#state = 'answering'
    return text.slice(end + CLOSING.length).trimStart()
  }
}

/** Removes the reasoning from a complete answer. */
export function withoutReasoning (text: string): string {
  const filter = new ReasoningFilter()
  return filter.push(text) + filter.end()
}
