import { readdirSync, readFileSync } from 'node:fs'
import { createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../helpers/server.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const files = readdirSync(`${ROOT}examples`).filter((name) => name.endsWith('.yaml'))

/** The variables of an example's own `Start:` line, as a user would copy it. */
function environmentOf (file: string): Record<string, string> {
  const start = /^# Start: (.*) npm start$/m.exec(readFileSync(`${ROOT}examples/${file}`, 'utf8'))
  if (start === null) throw new Error(`${file} does not say how to start it`)
  return Object.fromEntries(start[1]!.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

for (const file of files) {
  t.test(`${file} starts as it says and becomes ready`, async (t) => {
    const server = await startServer(t, environmentOf(file), { cwd: ROOT })
    const response = await fetch(`${server.url}/health`)
    t.equal(response.status, 200, server.output())
  })
}

t.test('the list of examples names each of them', async (t) => {
  const list = readFileSync(`${ROOT}examples/README.md`, 'utf8')
  for (const file of files) t.match(list, `](${file})`)
})

t.test('personal-assistant.yaml keeps users apart and lets support read', async (t) => {
  const server = await startServer(t, environmentOf('personal-assistant.yaml'), { cwd: ROOT })
  const call = async (principal: string, path: string, body: unknown) => await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'change-me', 'x-service-principal': principal },
    body: JSON.stringify(body),
  })
  const memory = { bank_id: 'user-alice', content: 'Alice is allergic to nuts.' }
  const question = { bank_id: 'user-alice', query: 'allergic to what' }
  t.equal((await call('user:alice', '/v1/retain', memory)).status, 200)
  t.equal((await call('user:bob', '/v1/recall', question)).status, 403)
  t.equal((await call('support:jane', '/v1/recall', question)).status, 200)
  t.equal((await call('support:jane', '/v1/retain', memory)).status, 403)
})

t.test('webhooks.yaml takes a signed event of the shop and refuses an unsigned one', async (t) => {
  const server = await startServer(t, environmentOf('webhooks.yaml'), { cwd: ROOT })
  const body = JSON.stringify({ event: { summary: 'Order 17 was shipped.' } })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const send = async (headers: Record<string, string>) => await fetch(`${server.url}/v1/ingest/webhook/shop`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  const signature = createHmac('sha256', 'change-me').update(`${timestamp}.${body}`).digest('hex')
  t.equal((await send({})).status, 401)
  t.equal((await send({ 'x-signature-256': `sha256=${signature}`, 'x-shop-timestamp': timestamp })).status, 200)
})
