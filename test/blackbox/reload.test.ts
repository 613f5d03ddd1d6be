import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { spawnServer, startServer, type RunningServer } from '../helpers/server.js'
import { written } from './gate.js'

const SECRET = 'sk-secret-of-the-sender'

async function retain ({ url }: RunningServer): Promise<number> {
  const response = await fetch(`${url}/v1/retain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ bank_id: 'team', content: 'longer than five' }),
  })
  await response.text()
  return response.status
}

t.test('SIGHUP applies a changed file, refuses one with problems or a needed restart, and stops nothing', async (t) => {
  const path = `${t.testdir({ 'gateway.yaml': 'barriers: {validation: {max_content_length: 50}}\n' })}/gateway.yaml`
  const server = await startServer(t, { SERVICES_CONFIG_PATH: path, SERVICE_ADMIN_TOKEN: 'the admin token' })
  const hangUp = async (yaml: string, log: RegExp) => {
    writeFileSync(path, yaml)
    server.process.kill('SIGHUP')
    await written(server, log)
  }
  t.equal(await retain(server), 200)
  await hangUp(
    'barriers: {validation: {max_content_length: 5}}\n',
    /"changed":\["barriers\.validation\.max_content_length"\].*the configuration was read again/,
  )
  t.equal(await retain(server), 400)

  await hangUp(
    'barriers: {validation: {max_content_length: none}}\n',
    /"problems":\[.*max_content_length.*the configuration was not changed/,
  )
  t.equal(await retain(server), 400)
  await hangUp(
    `sources: {crm: {type: webhook, target_bank: team, auth: {type: hmac, secret: ${SECRET}}}}\n`,
    /"restart_required":\["sources\.crm[^\n]*the configuration was not changed/,
  )
  t.equal(await retain(server), 400)

  const reload = await fetch(`${server.url}/v1/admin/reload`, {
    method: 'POST',
    headers: { 'x-admin-token': 'the admin token', 'content-type': 'application/json' },
    body: '{}',
  })
  t.equal(reload.status, 409)
  t.notMatch(await reload.text() + server.output(), SECRET)
  const CHANGED = String.raw`"changed":\["barriers\.validation\.max_content_length"\]`
  await hangUp('{}\n', new RegExp(`${CHANGED}[^]*${CHANGED}`))
  t.equal(await retain(server), 200)
  t.equal(server.process.exitCode, null)
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 0)
})

t.test('SIGHUP during the start does not end the process, and reloads after the start', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': 'vector_store: ./slow.mjs:SlowStore\n',
    'slow.mjs': `import { InMemoryVectorStore } from 'memory-gateway/lib/stores/in-memory/store.js'
      export class SlowStore extends InMemoryVectorStore {
        async start () {
          console.log('the store starts')
          await new Promise((resolve) => { setTimeout(resolve, 1000) })
        }
      }`,
  })
  const server = spawnServer(t, { SERVICES_PORT: '0', SERVICES_CONFIG_PATH: `${folder}/gateway.yaml` })
  await written(server, /the store starts/)
  server.process.kill('SIGHUP')
  await written(server, /the configuration was read again[^]*Memory Gateway is running/)
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 0)
})

t.test('SIGHUP while the modules of the server load does not end the process', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': '{}\n',
    'register.mjs': `import { register } from 'node:module'
      register('./hooks.mjs', import.meta.url)`,
    'hooks.mjs': `export async function load (url, context, nextLoad) {
      if (url.endsWith('/cli/serve.js')) process.kill(process.pid, 'SIGHUP')
      return await nextLoad(url, context)
    }`,
  })
  const server = spawnServer(t, {
    SERVICES_PORT: '0',
    SERVICES_CONFIG_PATH: `${folder}/gateway.yaml`,
    NODE_OPTIONS: `--import=${pathToFileURL(`${folder}/register.mjs`).href}`,
  })
  await written(server, /the configuration was read again[^]*Memory Gateway is running/)
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 0)
})

t.test('a segmentation fault ends the process', async (t) => {
  const server = await startServer(t)
  server.process.kill('SIGSEGV')
  await server.ended
  t.equal(server.process.signalCode, 'SIGSEGV')
})
