import { HindsightClient } from '@vectorize-io/hindsight-client'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { testApp, type TestApp } from '../../../test/helpers/app.js'
import type { TestConfig } from '../../../test/helpers/config.js'
import type { MemoryOverrides } from '../../../lib/operations/memory-service.js'
import hindsight, { type HindsightOptions } from '../src/index.js'

/** A gateway, and Hindsight's API in front of it. */
export interface Gateway extends TestApp {
  /** The URL of Hindsight's API. */
  url: string
  hindsight: FastifyInstance
  /** Hindsight's own client. */
  client: HindsightClient
  /** The same for another caller. */
  clientOf: (options: { apiKey?: string, principal?: string }) => HindsightClient
}

export async function gateway (
  t: Test, config: TestConfig = {}, overrides: MemoryOverrides = {}, options: Partial<HindsightOptions> = {},
): Promise<Gateway> {
  const served = await testApp(t, config, overrides)
  const app = Fastify({ bodyLimit: 4 * 1024 * 1024, routerOptions: { maxParamLength: 1024 } })
  t.teardown(async () => { await app.close() })
  await app.register(hindsight, { gateway: await served.app.listen({ port: 0, host: '127.0.0.1' }), ...options })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const clientOf: Gateway['clientOf'] = ({ apiKey, principal }) => new HindsightClient({
    baseUrl: url,
    ...(apiKey !== undefined && { apiKey }),
    ...(principal !== undefined && { headers: { 'X-Service-Principal': principal } }),
  })
  return { ...served, url, hindsight: app, client: clientOf({}), clientOf }
}
