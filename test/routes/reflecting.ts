import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { ReflectAnswer } from '../../lib/operations/schemas.js'
import type { GenerateRequest, Generation, GenerationPart, LanguageModel } from '../../lib/models/language-model.js'
import type { ModelStatus } from '../../lib/models/health.js'
import type { TestApp } from '../helpers/app.js'
import type { LanguageServer } from '../helpers/language-server.js'
import type { TestConfig } from '../helpers/config.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { rs256, rsaKey } from '../helpers/tokens.js'

/** What a scripted model says it used. */
export const USAGE = { inputTokens: 30, outputTokens: 4 }

export function generation (text: string): Generation {
  return { text, usage: USAGE }
}

/** A model that answers as the test says and records its requests. */
export class ScriptedModel implements LanguageModel {
  readonly asked: GenerateRequest[] = []
  readonly model: string = 'scripted'
  answer: (request: GenerateRequest) => unknown = () => generation('Tea [1].')

  async generate (request: GenerateRequest): Promise<Generation> {
    this.asked.push(request)
    return await this.answer(request) as Generation
  }

  /** The last request. */
  get last (): GenerateRequest {
    return this.asked.at(-1)!
  }
}

/** The same as a stream. */
export class StreamingModel extends ScriptedModel {
  parts: (request: GenerateRequest) => AsyncIterable<GenerationPart> = () => parts('Tea ', '[1].')

  stream (request: GenerateRequest): AsyncIterable<GenerationPart> {
    this.asked.push(request)
    return this.parts(request)
  }
}

/** A stream of these texts that ends in good order. */
export async function * parts (...texts: string[]): AsyncGenerator<GenerationPart, void> {
  for (const text of texts) yield { type: 'text', text }
  yield { type: 'end', usage: USAGE }
}

/** Work that ends by its signal alone. */
export async function hanging ({ signal }: { signal?: AbortSignal }): Promise<never> {
  return await new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      const reason: unknown = signal.reason
      reject(reason instanceof Error ? reason : new Error('Aborted'))
    })
  })
}

/** Settles when it is opened. */
export function latch (): { opened: Promise<void>, open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** The answer of a reflect that has to succeed. */
export function answerOf (response: LightMyRequestResponse): ReflectAnswer {
  if (response.statusCode !== 200) throw new Error(`reflect answered ${response.statusCode}: ${response.body}`)
  return response.json<ReflectAnswer>()
}

/** The lines of evidence of a prompt, by their numbers. */
export function evidenceIn (request: GenerateRequest): Array<Record<string, unknown>> {
  const lines = request.messages.at(1)!.content.split('\n')
  return lines.slice(1, lines.findIndex((line) => line.startsWith('EVIDENCE '))).map((line, index) => {
    const [, number, json] = /^\[(\d+)\] (.+)$/.exec(line)!
    if (Number(number) !== index + 1) throw new Error(`line ${index + 1} has the number ${number}`)
    return JSON.parse(json!) as Record<string, unknown>
  })
}

/** Configuration of a model on this server without retries. */
export function remoteModel ({ url }: LanguageServer, settings: Record<string, unknown> = {}): FileConfig {
  return {
    llm_provider: 'openai_compatible',
    llm_provider_config: { base_url: url, model: 'remote', max_retries: 0, ...settings },
  }
}

/** Makes the app listen on a free port. @returns the address of its reflect */
export async function listening ({ app }: TestApp): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1/reflect`
}

/** Messages of the log from this level up: 40 warn, 50 error. */
export function logged ({ log }: TestApp, level: number): string[] {
  return log.filter((line) => Number(line['level']) >= level).map((line) => String(line['msg']))
}

/** Settings under which callers have tenants, and the headers of one who belongs to a tenant. */
export async function tenants (t: Test): Promise<
  { auth: NonNullable<TestConfig['auth']>, of: (tenantId: string) => Record<string, string> }
> {
  const key = rsaKey('k1')
  const server = await startJwksServer(key)
  t.teardown(async () => { await server.close() })
  const claims = { sub: 'alice', iss: 'https://id.test', aud: 'memory', exp: Date.UTC(2030, 0, 1) / 1000 }
  return {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: server.url, oidcIssuer: claims.iss, oidcAudience: claims.aud },
    of: (tenantId) => ({ authorization: `Bearer ${rs256({ ...claims, tid: tenantId }, key)}` }),
  }
}

/** Waits, turn by turn of the event loop, until the condition holds; its cause must be in this process. */
export async function until (isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate()
}

/** The state of the language model of an app. */
export function modelStatus ({ app }: TestApp): ModelStatus {
  return app.memory.status().models.find(({ kind }) => kind === 'llm')?.status ?? {}
}
