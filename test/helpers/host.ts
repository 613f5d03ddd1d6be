import Fastify, { type FastifyInstance, type FastifyServerOptions, type LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { loadConfig, type MemoryGatewayOptions } from '../../index.js'
import { MOCK_EMBEDDINGS } from './config.js'

const JSON_TYPE = { 'content-type': 'application/json' }
/** The settings of a host's server that docs/library.md recommends. */
export const SERVER = { routerOptions: { maxParamLength: 1024 }, requestTimeout: 60_000 }

export interface Host {
  app: FastifyInstance
  log: Array<Record<string, unknown>>
}

/** Another app, which the gateway is to be a part of; closed when the test ends. */
export async function host (t: Test, options: FastifyServerOptions = SERVER): Promise<Host> {
  const log: Array<Record<string, unknown>> = []
  const stream = { write: (line: string) => { log.push(JSON.parse(line) as Record<string, unknown>) } }
  const app = Fastify({ logger: { stream, level: 'info' }, ...options })
  t.teardown(async () => { await app.close() })
  return { app, log }
}

export function options (more: Partial<MemoryGatewayOptions> = {}): MemoryGatewayOptions {
  return { prefix: '/memory', config: loadConfig({}, { file: MOCK_EMBEDDINGS }), ...more }
}

export async function post (
  app: FastifyInstance, url: string, body: unknown, headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  return await app.inject({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload: JSON.stringify(body) })
}
