import { sumTokens, TokenCount } from '../text/tokens.js'
import type { ModelStatus } from './health.js'

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** One piece of evidence, numbered from 1 in the order in which the answer cites it. */
export interface Evidence {
  text: string
  bankId: string
  /** Who said it: a name, `user` or `assistant`; null or absent when nobody is stated. */
  speaker?: string | null
  /** RFC 3339; null when the memory has no time of its own. */
  occurredAt: string | null
  /** RFC 3339; when the memory was stored. */
  retainedAt: string
  /** How well recall ranked it for the question, from 0 to 1; absent when it was not ranked. */
  score?: number
  /** The cosine of the question and the memory; absent without the semantic strategy. */
  similarity?: number | undefined
  /** Whether another memory took its place; absent when none did. */
  superseded?: boolean | undefined
}

/** A JSON Schema that an answer has to satisfy. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface GenerateRequest {
  /** The prompt, complete: a model that only knows messages needs nothing else. */
  messages: readonly Message[]
  /** The question and evidence as data, for models that answer without reading a prompt. */
  grounding: { question: string, evidence: readonly Evidence[] }
  /** Maximum length of the answer in tokens. */
  maxTokens: number
  /** The schema that the answer must satisfy as JSON. The prompt states it, too; models that can enforce it do. */
  responseSchema?: JsonSchema | undefined
  /** Milliseconds that the call may take, waiting and retries included. Default: no limit but the model's own. */
  timeoutMs?: number | undefined
  /** Tenant of the caller; null or absent for none. Failures that a tenant's requests cause count for it alone. */
  tenantId?: string | null
  /** Called when the call begins to wait and when it is made. A model without a queue does not call it. */
  progress?: (state: 'waiting' | 'made') => void
  signal?: AbortSignal
}

/** Tokens of one call as the model counts them, whole numbers. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
}

/** Why the text ends: it is complete, `maxTokens` cut it, or the model refused or its own filter blocked it. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface Generation {
  /** Cites evidence as `[1]`, `[2]`; JSON when the request has a schema. */
  text: string
  usage: TokenUsage
  /** Default `stop`. */
  finish?: Finish
}

/** A part of a streamed answer: any number of texts, then one end. */
export type GenerationPart = { type: 'text', text: string } | { type: 'end', usage: TokenUsage, finish?: Finish }

/** The interface of a language model. */
export interface LanguageModel {
  /** Name of the model, for prices and metrics. Default: the provider's name in the configuration. */
  readonly model?: string
  /** Whether it can answer in JSON for a schema. Default true. */
  readonly structured?: boolean
  generate (request: GenerateRequest): Promise<Generation>
  /** Streams the answer. A consumer that stops reading ends the call. Default: `generate`, as one part. */
  stream? (request: GenerateRequest): AsyncIterable<GenerationPart>
  /** The current state, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const LANGUAGE_MODEL_METHODS = ['generate'] as const satisfies ReadonlyArray<keyof LanguageModel>

/**
 * Tokens of a prompt, counted here; the model's own count may differ by a little.
 */
export async function promptTokens (messages: readonly Message[]): Promise<number> {
  return await sumTokens(messages.map(({ content }) => TokenCount.of(content)))
}
