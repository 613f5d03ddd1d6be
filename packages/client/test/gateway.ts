import type { Test } from 'tap'
import { testApp, type TestApp } from '../../../test/helpers/app.js'
import type { TestConfig } from '../../../test/helpers/config.js'
import type { MemoryOverrides } from '../../../lib/operations/memory-service.js'
import { MemoryGatewayClient, type ClientOptions } from '../src/index.js'

export interface Gateway extends TestApp {
  url: string
  client (options?: Partial<ClientOptions>): MemoryGatewayClient
}

/** The whole gateway on the in-memory store, on a port of the loopback interface. */
export async function gateway (t: Test, config: TestConfig = {}, overrides: MemoryOverrides = {}): Promise<Gateway> {
  const served = await testApp(t, config, overrides)
  const url = await served.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...served, url, client: (options = {}) => new MemoryGatewayClient({ baseUrl: url, ...options }) }
}

export async function collect<Item> (items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of items) collected.push(item)
  return collected
}
