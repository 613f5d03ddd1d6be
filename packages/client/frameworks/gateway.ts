import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryGatewayClient } from 'memory-gateway-client'

// This file runs in .cache/agent-frameworks/frameworks.
const SERVER = fileURLToPath(new URL('../../../dist/server.js', import.meta.url))
const CONFIG = 'access_control:\n  enabled: true\n  default_policy: owner_only\n'

export interface Gateway {
  url: string
  memory: MemoryGatewayClient
}

/** Starts the built server, in which everybody has a bank of their own; it ends with the tests of the file. */
export async function startGateway (): Promise<Gateway> {
  const configPath = join(mkdtempSync(join(tmpdir(), 'agent-frameworks-')), 'config.yaml')
  writeFileSync(configPath, CONFIG)
  const server = spawn(process.execPath, [SERVER], {
    env: { PATH: process.env['PATH'], SERVICES_PORT: '0', SERVICES_CONFIG_PATH: configPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => { server.kill() })
  let written = ''
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.on('data', (data: Buffer) => {
      written += data.toString()
      const found = /Server listening at (http:\/\/[^"\s]+)/.exec(written)
      if (found?.[1] !== undefined) resolve(found[1])
    })
    void once(server, 'close').then(() => { reject(new Error(`the server ended: ${written}`)) })
  })
  return { url, memory: new MemoryGatewayClient({ baseUrl: url, principal: 'user:alice' }) }
}

/** A gateway that never answers, and when a client has left it. @param onRequest is called when a request is there */
export async function startSilentGateway (
  onRequest: () => void,
): Promise<{ memory: MemoryGatewayClient, left: Promise<void> }> {
  let leave = () => {}
  const left = new Promise<void>((resolve) => { leave = resolve })
  const server = createServer((_request, response) => {
    response.on('close', leave)
    onRequest()
  })
  after(() => { server.close(); server.closeAllConnections() })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  // Longer than a test may take: nothing but the signal ends the request.
  return { memory: new MemoryGatewayClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 600_000 }), left }
}
