export interface Message {
  role: 'system' | 'user'
  content: string
}

/** One piece of evidence, numbered from 1 in the order in which the answer cites it. */
export interface Evidence {
  text: string
  bankId: string
  /** RFC 3339; null when the memory has no time of its own. */
  occurredAt: string | null
}

export interface GenerateRequest {
  /** The prompt, complete: a model that only knows messages needs nothing else. */
  messages: readonly Message[]
  /** The same as data, for models that answer from evidence without reading a prompt. */
  grounding: { question: string, evidence: readonly Evidence[] }
  /** Ceiling of the answer. */
  maxTokens: number
  signal?: AbortSignal
}

export interface Generation {
  /** Cites evidence as `[1]`, `[2]`. */
  text: string
  usage: { inputTokens: number, outputTokens: number }
}

/** What a language model must do. */
export interface LanguageModel {
  generate (request: GenerateRequest): Promise<Generation>
  close? (): Promise<void>
}

export const LANGUAGE_MODEL_METHODS = ['generate'] as const satisfies ReadonlyArray<keyof LanguageModel>
