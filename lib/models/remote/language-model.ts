import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type {
  LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Message, SharedV3Warning,
} from '@ai-sdk/provider'
import { type ProviderConfig, ProviderError } from '../../providers/registry.js'
import { AnthropicLanguageSettings, OpenAiLanguageSettings } from '../../providers/schemas/language-models.js'
import { settingsCheck } from '../../providers/settings.js'
import type { CallLimits, LimitedModel } from '../call-limits.js'
import type {
  GenerateRequest, Generation, GenerationPart, JsonSchema, LanguageModel, Message,
} from '../language-model.js'
import { openAddress, type Endpoint, type RemoteContext, type RemoteTools, checkCombinations } from './endpoint.js'
import { ModelCallError } from './model-call-error.js'
import { SdkCall } from './sdk-call.js'
import { withoutUndefined } from '../../validation/members.js'
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
  config: ProviderConfig, context: RemoteContext, tools: RemoteTools = {},
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
  config: ProviderConfig, context: RemoteContext, tools: RemoteTools = {},
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
  { warn = () => {} }: RemoteContext,
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
  if (settings.probe) await probe(KEY, SERVICE, model, { warn, tools })
  return model
}

interface ProbeTarget {
  readonly limits: CallLimits
  ping (signal: AbortSignal): Promise<void>
}

/**
 * Calls a model once, with retries. An exhausted rate limit is only a warning, because it shows that key, model and
 * address are right.
 * @throws ProviderError that names the fault
 */
export async function probe (
  key: string, service: string, model: ProbeTarget,
  { warn, tools }: { warn: (message: string) => void, tools: RemoteTools },
): Promise<void> {
  // A circuit that opened between the attempts would hide their error.
  const calls = new ResilientCalls({ service, ...model.limits, breaker: { threshold: Infinity, recoveryMs: 0 }, tools })
  try {
    await calls.call(async (signal) => { await model.ping(signal) })
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    if (error.kind === 'rate_limited') warn(`${key}: ${error.message} when it was probed`)
    else throw new ProviderError(`${key}: the probe failed, ${reasonOf(error)}: ${error.message}`)
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
