import type { AddressInfo } from 'node:net'
import { HindsightClient } from '@vectorize-io/hindsight-client'
import type { Test } from 'tap'
import type { MemoryOverrides } from '../../../lib/memory/service.js'
import { testApp, type TestApp } from '../../helpers/app.js'
import type { TestConfig } from '../../helpers/config.js'

export interface Gateway extends TestApp {
  url: string
  /** Hindsight's own client, in front of the gateway. */
  client: HindsightClient
  /** The same for another caller. */
  clientOf: (options: { apiKey?: string, principal?: string }) => HindsightClient
}

/** A gateway that listens on a port of its own and speaks Hindsight's API. */
export async function gateway (t: Test, config: TestConfig = {}, overrides: MemoryOverrides = {}): Promise<Gateway> {
  const file = { ...config.file, compatibility: { hindsight: true, ...config.file?.compatibility } }
  const app = await testApp(t, { ...config, file }, overrides)
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}`
  const clientOf: Gateway['clientOf'] = ({ apiKey, principal }) => new HindsightClient({
    baseUrl: url,
    ...(apiKey !== undefined && { apiKey }),
    ...(principal !== undefined && { headers: { 'X-Service-Principal': principal } }),
  })
  return { ...app, url, client: clientOf({}), clientOf }
}
