import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { testApp } from '../../../test/helpers/app.js'

t.test('the program serves the API in front of a gateway, under local names only', async (t) => {
  const { app } = await testApp(t)
  const gateway = await app.listen({ port: 0, host: '127.0.0.1' })
  const program = spawn(process.execPath, [fileURLToPath(new URL('../src/server.js', import.meta.url))], {
    env: { ...process.env, MEMORY_GATEWAY_URL: gateway, HINDSIGHT_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => { program.kill('SIGKILL') })
  let url: string | undefined
  for await (const line of createInterface({ input: program.stdout })) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (url !== undefined) break
  }
  const client = new HindsightClient({ baseUrl: url! })
  await client.retain('alice', 'Alice drinks green tea.')
  t.match(await client.recall('alice', 'What does Alice drink?'), { results: [{ text: 'Alice drinks green tea.' }] })
  const { hostname, port } = new URL(url!)
  const { request } = await import('node:http')
  const asked = request({ hostname, port, path: '/version', headers: { host: 'evil.example' } }).end()
  const [response] = await once(asked, 'response')
  t.equal(response.statusCode, 403)
  response.resume()
  const ended = once(program, 'exit')
  program.kill('SIGTERM')
  t.same(await ended, [0, null])
})

t.test('a gateway that does not answer is 502', async (t) => {
  const { default: Fastify } = await import('fastify')
  const { default: hindsight } = await import('../src/index.js')
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  // Nothing listens on the discard port.
  await app.register(hindsight, { gateway: 'http://127.0.0.1:9' })
  const response = await app.inject('/v1/default/banks/alice/config')
  t.match([response.statusCode, response.json()], [502, { code: 'dependency_unavailable' }])
})
