import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Message, SharedV3Warning } from '@ai-sdk/provider'
import { ProviderError, type ProviderConfig } from '../../providers/registry.js'
import { settingsCheck } from '../../providers/settings.js'
import { DEFAULT_LIMITS, type CallLimits, type LimitedModel } from '../call-limits.js'
import type { GenerateRequest, Generation, GenerationPart, JsonSchema, LanguageModel, Message } from '../language-model.js'
import { openAddress, type Endpoint, type RemoteSurroundings, type RemoteTools } from './endpoint.js'
import { probe } from './language-probe.js'
import { ANTHROPIC_MAX_TOKENS, ANTHROPIC_URL, AnthropicLanguageSettings, OpenAiLanguageSettings } from './language-settings.js'
import { ModelCallError } from './model-call-error.js'
import { SdkCall } from './sdk-call.js'

const KEY = 'llm_provider_config'
const WHAT = 'language model'
const OPENAI = 'openaiCompatible'

type ResponseFormat = LanguageModelV3CallOptions['responseFormat']

interface Parts {
  endpoint: Endpoint
  model: string
  limits: CallLimits
  /** A model of the SDK that asks through this function. */
  makeModel: (fetch: typeof globalThis.fetch) => LanguageModelV3
  /** What is sent with every request. */
  sampling: Pick<LanguageModelV3CallOptions, 'temperature' | 'topP' | 'providerOptions'>
  /** Ceiling over that of the request. */
  maxOutputTokens: number
  /** How an answer in JSON is asked for; undefined: by the prompt alone. */
  responseFormat: (schema: JsonSchema) => ResponseFormat
  /** Takes a sentence for the operator's log. */
  warn: (message: string) => void
}

/**
 * A language model behind HTTP. It makes one attempt a call, with no bounds of its own: boundedLanguageModel() puts its `limits` around it.
 */
export class RemoteLanguageModel implements LanguageModel, LimitedModel {
  readonly model: string
  readonly limits: CallLimits
  readonly #parts: Parts
  /** Settings that the SDK does not send, as it said. */
  readonly #unsent = new Set<string>()

  constructor (parts: Parts) {
    this.#parts = parts
    this.model = parts.model
    this.limits = parts.limits
  }

  /** @throws ModelCallError; the reason of the signal once it is aborted */
  async generate (request: GenerateRequest): Promise<Generation> {
    const generation = await this.#call(request).generate()
    if (generation.text.trim() === '' && generation.finish !== 'filtered') throw this.#wordless(generation.finish)
    return generation
  }

  /** @throws as generate() */
  async * stream (request: GenerateRequest): AsyncGenerator<GenerationPart, void, undefined> {
    let isWordless = true
    for await (const part of this.#call(request).stream()) {
      if (part.type === 'text') isWordless &&= part.text.trim() === ''
      else if (isWordless && part.finish !== 'filtered') throw this.#wordless(part.finish)
      yield part
    }
  }

  /**
   * Asks for a word, whatever it is.
   * @throws ModelCallError; the reason of the signal once it is aborted
   */
  async greet (signal: AbortSignal): Promise<void> {
    // The newest models of OpenAI take no ceiling below 16; a model that thinks may use all of it up.
    await this.#call({ messages: [{ role: 'user', content: 'Say OK.' }], grounding: { question: '', evidence: [] }, maxTokens: 16, signal }).generate()
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
      options: { prompt: request.messages.map(toSdk), maxOutputTokens: maxTokens, ...sampling, ...(format !== undefined && { responseFormat: format }) },
      warn: (warnings) => { this.#warn(warnings) },
    })
  }

  /** Once for each setting: it stays as it is while the process lives. */
  #warn (warnings: readonly SharedV3Warning[]): void {
    for (const warning of warnings) {
      const feature = 'feature' in warning ? warning.feature : undefined
      if (feature === undefined || this.#unsent.has(feature)) continue
      this.#unsent.add(feature)
      this.#parts.warn(`${KEY}: ${feature} cannot be sent to ${this.model} as it is set`)
    }
  }

  #wordless (finish: Generation['finish']): ModelCallError {
    // The ceiling is the caller's, who could else open the circuit for everybody with a low one.
    const cutShort = finish === 'length'
    return new ModelCallError('unusable', `The ${WHAT} answered without a text${cutShort ? ': it used up its tokens before' : ''}`, { status: 200, cutShort })
  }
}

function toSdk ({ role, content }: Message): LanguageModelV3Message {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] }
}

/** The schema is sent on as it is, and judged by the endpoint. */
function jsonFormat (schema: JsonSchema): ResponseFormat {
  return { type: 'json', schema, name: 'answer' }
}

/**
 * Makes the language model `openai_compatible`; it speaks the chat completions of the OpenAI API.
 * @throws ProviderError for wrong settings, and when the probe fails; no secret is shown
 */
export async function makeOpenAiLanguageModel (config: ProviderConfig, surroundings: RemoteSurroundings, tools: RemoteTools = {}): Promise<RemoteLanguageModel> {
  const settings = checkOpenAi(config)
  const endpoint = openAddress(KEY, WHAT, settings, surroundings, tools)
  const { structured_outputs: takesSchema = false, max_tokens_parameter: ceilingName = 'max_tokens' } = settings
  return await opened(settings, surroundings, tools, {
    endpoint,
    makeModel: (fetch) => createOpenAICompatible({
      name: OPENAI,
      baseURL: endpoint.baseUrl,
      fetch,
      includeUsage: true,
      supportsStructuredOutputs: takesSchema,
      transformRequestBody: ({ max_tokens: ceiling, ...body }) => ({ ...body, [ceilingName]: ceiling as unknown }),
    }).chatModel(settings.model),
    // Strict takes only a part of JSON Schema, and refuses a caller's schema that is beyond it.
    sampling: { ...sampling(settings), providerOptions: { [OPENAI]: { strictJsonSchema: false } } },
    maxOutputTokens: settings.max_output_tokens ?? Infinity,
    responseFormat: takesSchema ? jsonFormat : () => ({ type: 'json' }),
  })
}

/**
 * Makes the language model `anthropic`; it speaks the messages API.
 * @throws ProviderError for wrong settings, and when the probe fails; no secret is shown
 */
export async function makeAnthropicLanguageModel (config: ProviderConfig, surroundings: RemoteSurroundings, tools: RemoteTools = {}): Promise<RemoteLanguageModel> {
  const settings = checkAnthropic(config)
  if (settings.temperature !== undefined && settings.top_p !== undefined) throw new ProviderError(`${KEY}: only one of temperature, top_p may be set`)
  const endpoint = openAddress(KEY, WHAT, { ...settings, base_url: settings.base_url ?? ANTHROPIC_URL }, surroundings, tools, (key) => ({ 'x-api-key': key }))
  return await opened(settings, surroundings, tools, {
    endpoint,
    makeModel: (fetch) => createAnthropic({
      baseURL: endpoint.baseUrl,
      // The SDK would look for a key in the environment. The endpoint has the right one, if there is one.
      apiKey: 'none',
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers)
        headers.delete('x-api-key')
        return await fetch(url, { ...init, headers })
      },
    })(settings.model),
    sampling: sampling(settings),
    maxOutputTokens: settings.max_output_tokens ?? ANTHROPIC_MAX_TOKENS,
    responseFormat: settings.structured_outputs === true ? jsonFormat : () => undefined,
  })
}

const checkOpenAi = settingsCheck(KEY, OpenAiLanguageSettings)
const checkAnthropic = settingsCheck(KEY, AnthropicLanguageSettings)

type Settings = OpenAiLanguageSettings | AnthropicLanguageSettings

function sampling ({ temperature, top_p: topP }: Settings): Parts['sampling'] {
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) }
}

async function opened (settings: Settings, { warn = () => {} }: RemoteSurroundings, tools: RemoteTools, parts: Omit<Parts, 'model' | 'limits' | 'warn'>): Promise<RemoteLanguageModel> {
  const limits: CallLimits = {
    attemptTimeoutMs: settings.timeout_ms ?? DEFAULT_LIMITS.attemptTimeoutMs,
    maxRetries: settings.max_retries ?? DEFAULT_LIMITS.maxRetries,
    maxConcurrency: settings.max_concurrency ?? DEFAULT_LIMITS.maxConcurrency,
    maxWaiting: settings.max_waiting ?? DEFAULT_LIMITS.maxWaiting,
  }
  const model = new RemoteLanguageModel({ ...parts, model: settings.model, limits, warn })
  if (settings.probe === true) await probe(KEY, WHAT, model, { warn, tools })
  return model
}
