import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { buildApp } from '../../app.js'
import type { Config } from '../../lib/config/config.js'
import type { MemoryOverrides } from '../../lib/operations/memory-service.js'
import { countingIds, testClock, type TestClock } from './clock.js'
import { testConfig, type TestConfig } from './config.js'

export interface TestApp {
  app: FastifyInstance
  clock: TestClock
  /** Every log line, parsed. */
  log: Array<Record<string, unknown>>
  inject (options: InjectOptions): Promise<LightMyRequestResponse>
  /** POST of a JSON body. */
  post (url: string, body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  get (url: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  /** POST /v1/retain that has to succeed; answers the memory's id. */
  retain (
    bankId: string, content: string, more?: Record<string, unknown>, headers?: Record<string, string>,
  ): Promise<string>
}

/** With TEST_STORE=postgres every app that names no store has one on the database of TEST_DATABASE_URL. */
async function defaultStore (t: Test, { file }: TestConfig): Promise<MemoryOverrides> {
  if (process.env['TEST_STORE'] !== 'postgres' || file?.vector_store !== undefined) return {}
  const { startablePostgresStore } = await import('./sql-stores.js')
  return { store: startablePostgresStore(t) }
}

/**
 * The whole gateway as it is served, on the in-memory store, with a standing clock and counted ids; closed when the
 * test ends.
 */
export async function testApp (
  t: Test, config: TestConfig = {}, overrides: MemoryOverrides = {}, options: { reloadConfig?: () => Config } = {},
): Promise<TestApp> {
  const clock = testClock()
  const log: Array<Record<string, unknown>> = []
  const app = await buildApp(testConfig(config), {
    log: { stream: { write: (line) => { log.push(JSON.parse(line) as Record<string, unknown>) } } },
    overrides: { clock, newId: countingIds(), ...await defaultStore(t, config), ...overrides },
    ...options,
  })
  t.teardown(async () => { await app.close() })
  await app.ready()
  const inject = async (options: InjectOptions) => await app.inject(options)
  const post: TestApp['post'] = async (url, body, headers = {}) => (
    await inject({
      method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, payload: JSON.stringify(body),
    })
  )
  return {
    app,
    clock,
    log,
    inject,
    post,
    get: async (url, headers = {}) => await inject({ method: 'GET', url, headers }),
    retain: async (bankId, content, more = {}, headers = {}) => {
      const response = await post('/v1/retain', { bank_id: bankId, content, ...more }, headers)
      if (response.statusCode !== 200) throw new Error(`retain answered ${response.statusCode}: ${response.body}`)
      return response.json<{ memory_id: string }>().memory_id
    },
  }
}
