import type { Test } from 'tap'
import type { EmbeddingProvider } from '../../../lib/models/embedding-provider.js'
import { makeRemoteEmbeddingProvider } from '../../../lib/models/remote/embedding-provider.js'
import type { RemoteTools } from '../../../lib/models/remote/endpoint.js'
import {
  ModelCallError, type ModelCallDetails, type ModelCallKind,
} from '../../../lib/models/remote/model-call-error.js'
import { ResilientCalls, type ResilienceOptions } from '../../../lib/models/remote/resilient-calls.js'
import { DIMENSIONS, startModelServer, vectorOf, type ModelServer } from '../../helpers/model-server.js'

export const NEVER = new Promise<never>(() => {})

/** Calls whose pauses take no time and are written down; chance always says one half. */
export function make (options: Partial<ResilienceOptions> = {}): { calls: ResilientCalls, pauses: number[] } {
  const pauses: number[] = []
  const calls = new ResilientCalls({
    service: 'model',
    maxConcurrency: 1,
    maxWaiting: 10,
    attemptTimeoutMs: 10_000,
    maxRetries: 3,
    breaker: { threshold: 100, recoveryMs: 1000 },
    ...options,
    tools: { random: () => 0.5, sleep: async (milliseconds) => { pauses.push(milliseconds) }, ...options.tools },
  })
  return { calls, pauses }
}

export function failure (kind: ModelCallKind, details: ModelCallDetails = {}): ModelCallError {
  return new ModelCallError(kind, `it was ${kind}`, details)
}

/** Work that fails with each of these and then succeeds. */
export function failing (...failures: ModelCallError[]): { work: () => Promise<string>, attempts: () => number } {
  let attempts = 0
  return {
    work: async () => {
      const error = failures[attempts++]
      if (error !== undefined) throw error
      return 'done'
    },
    attempts: () => attempts,
  }
}

/** How a call ended: its result, or the kind of its error. */
export async function outcome (call: Promise<string>): Promise<string> {
  return await call.catch((error: unknown) => {
    if (error instanceof ModelCallError) return error.kind
    throw error
  })
}

export interface Opened {
  server: ModelServer
  provider: EmbeddingProvider
}

/** A provider of a fresh server, which was told the dimensions. */
export async function openEmbeddings (
  t: Test, config: Record<string, unknown> = {}, tools: RemoteTools = {},
): Promise<Opened> {
  const server = await startModelServer(t)
  const settings = {
    base_url: server.url,
    model: 'test',
    dimensions: DIMENSIONS,
    timeout_ms: 60_000,
    query_timeout_ms: 60_000,
    ...config,
  }
  return {
    server,
    provider: await makeRemoteEmbeddingProvider(settings, { baseDirectory: '/' }, { sleep: async () => {}, ...tools }),
  }
}

/** What the server's vectors of these texts must have become. */
export function vectorsOf (texts: readonly string[]): Float32Array[] {
  return texts.map((text) => Float32Array.from(vectorOf(text)))
}

/** Texts that differ. */
export function numbered (count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text ${index}`)
}
