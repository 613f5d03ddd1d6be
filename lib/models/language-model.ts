import type { ModelStatus } from './status.js'

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** One piece of evidence, numbered from 1 in the order in which the answer cites it. */
export interface Evidence {
  text: string
  bankId: string
  /** RFC 3339; null when the memory has no time of its own. */
  occurredAt: string | null
}

/** A JSON Schema that an answer has to satisfy. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface GenerateRequest {
  /** The prompt, complete: a model that only knows messages needs nothing else. */
  messages: readonly Message[]
  /** The same as data, for models that answer from evidence without reading a prompt. */
  grounding: { question: string, evidence: readonly Evidence[] }
  /** Ceiling of the answer. */
  maxTokens: number
  /** The answer has to be one JSON text of this form. The prompt says so too; a model that can be held to a schema is held to it. */
  responseSchema?: JsonSchema
  /** Milliseconds that the call may take, waiting and retries included. Default: no limit but the model's own. */
  timeoutMs?: number
  /** Tenant of the caller; null or absent for none. Faults that one tenant's requests provoke are counted for it alone. */
  tenantId?: string | null
  /** Told that the call waits for its turn, and that it is made. A model that has no queue tells nothing. */
  progress?: (state: 'waiting' | 'made') => void
  signal?: AbortSignal
}

/** Tokens of one call as the model counts them, whole numbers. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
}

/** Why the text ends: it is complete, `maxTokens` cut it, or the model's own filter held it back. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface Generation {
  /** Cites evidence as `[1]`, `[2]`; JSON when a schema was asked for. */
  text: string
  usage: TokenUsage
  /** Default `stop`. */
  finish?: Finish
}

/** A part of an answer that comes bit by bit: any number of texts, then one end. */
export type GenerationPart = { type: 'text', text: string } | { type: 'end', usage: TokenUsage, finish?: Finish }

/** What a language model must do. */
export interface LanguageModel {
  /** Name of the model, for prices and metrics. Default: the provider's name in the configuration. */
  readonly model?: string
  /** Whether it can answer in a JSON form that a caller asks for. Default true. */
  readonly structured?: boolean
  generate (request: GenerateRequest): Promise<Generation>
  /** The same bit by bit. A consumer that stops reading ends the call. Default: `generate`, in one piece. */
  stream? (request: GenerateRequest): AsyncIterable<GenerationPart>
  /** How it stands, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const LANGUAGE_MODEL_METHODS = ['generate'] as const satisfies ReadonlyArray<keyof LanguageModel>
