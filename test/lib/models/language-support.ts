import { inspect } from 'node:util'
import type { Test } from 'tap'
import { boundedLanguageModel } from '../../../lib/models/bounded-models.js'
import type { GenerateRequest, GenerationPart, LanguageModel } from '../../../lib/models/language-model.js'
import type { RemoteTools } from '../../../lib/models/remote/endpoint.js'
import { makeAnthropicLanguageModel, makeOpenAiLanguageModel } from '../../../lib/models/remote/language-model.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { startLanguageServer, type LanguageServer } from '../../helpers/language-server.js'
import { rejection } from '../../helpers/rejection.js'

export const PROVIDERS = [
  { name: 'openai_compatible', make: makeOpenAiLanguageModel },
  { name: 'anthropic', make: makeAnthropicLanguageModel },
] as const

export type Provider = (typeof PROVIDERS)[number]

export const QUESTION = 'Where does Alice hide the spare key?'
export const SYSTEM = 'Answer from the evidence.'

export function ask (more: Partial<GenerateRequest> = {}): GenerateRequest {
  return {
    messages: [{ role: 'system', content: SYSTEM }, { role: 'user', content: QUESTION }],
    grounding: { question: QUESTION, evidence: [] },
    maxTokens: 100,
    ...more,
  }
}

/** A model of a fresh server, as it is. */
export async function openModel (
  t: Test, { make }: Provider, config: Record<string, unknown> = {}, warn: (message: string) => void = () => {},
): Promise<{ server: LanguageServer, model: LanguageModel }> {
  const server = await startLanguageServer(t)
  return { server, model: await make({ base_url: server.url, model: 'test', ...config }, { baseDirectory: '/', warn }) }
}

/** A model in its bounds, whose pauses take no time. */
export async function openBounded (
  server: LanguageServer, { make }: Provider, config: Record<string, unknown> = {}, tools: RemoteTools = {},
): Promise<LanguageModel> {
  const model = await make(
    { base_url: server.url, model: 'test', timeout_ms: 60_000, max_retries: 1, ...config }, { baseDirectory: '/' },
    tools,
  )
  return boundedLanguageModel(model, {
    breaker: { threshold: 100, recoveryMs: 1000, halfOpenCalls: 1 },
    ceilingMs: () => 600_000,
    tools: { random: () => 0.5, sleep: async () => {}, timer: () => 0, ...tools },
  })
}

/** The received texts, and the end of the stream. */
export async function read (
  parts: AsyncIterable<GenerationPart>,
): Promise<{ text: string, end?: GenerationPart, error?: unknown }> {
  let text = ''
  try {
    for await (const part of parts) {
      if (part.type === 'end') return { text, end: part }
      text += part.text
    }
    return { text }
  } catch (error) {
    return { text, error }
  }
}

export async function failureOf (call: Promise<unknown>): Promise<ModelCallError> {
  return await rejection(ModelCallError, call)
}

/** Everything that an error shows in any form of logging. */
export function everything (error: unknown): string {
  return [
    String(error), error instanceof Error ? error.stack : '', JSON.stringify(error),
    inspect(error, { depth: Infinity, showHidden: true }),
  ].join('\n')
}
