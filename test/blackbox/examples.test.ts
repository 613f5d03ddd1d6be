import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startServer } from '../helpers/server.js'
import { DATABASE_URL, freshSchema } from '../helpers/sql-stores.js'

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const examples = readdirSync(`${ROOT}examples`).filter((name) => name.endsWith('.yaml'))
/**
 * Those that write somewhere, or need something, have tests of their own: below, in test/lib/config, and with
 * containers in .ci/containers.
 */
const files = examples.filter((name) => (
  !['compose.yaml', 'kubernetes.yaml', 'kubernetes-postgres.yaml', 'pglite.yaml', 'postgres.yaml'].includes(name)
))

/** The variables of an example's own `Start:` line, as a user would copy it. */
function environmentOf (file: string): Record<string, string> {
  const start = /^# Start: (.*) npm start$/m.exec(readFileSync(`${ROOT}examples/${file}`, 'utf8'))
  if (start === null) throw new Error(`${file} does not say how to start it`)
  return Object.fromEntries(start[1]!.split(' ').map((pair) => [
    pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1),
  ]))
}

for (const file of files) {
  t.test(`${file} starts with the command that it names and becomes ready`, async (t) => {
    const server = await startServer(t, environmentOf(file), { cwd: ROOT })
    const response = await fetch(`${server.url}/health`)
    t.equal(response.status, 200, server.output())
  })
}

/** A folder with a copy of the examples, which is removed when the test ends. */
function copyOfExamples (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-gateway-examples-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  // Not the link that the folder may be where tests are compiled: the copy is written to.
  cpSync(`${ROOT}examples`, join(folder, 'examples'), { recursive: true, dereference: true })
  return folder
}

async function retain (url: string, content: string): Promise<number> {
  const body = JSON.stringify({ bank_id: 'user-alice', content })
  return (await fetch(`${url}/v1/retain`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body,
  })).status
}

async function contents (url: string): Promise<string[]> {
  const { memories } = await (await fetch(
    `${url}/v1/banks/user-alice/memories`,
  )).json() as { memories: Array<{ text: string }> }
  return memories.map(({ text }) => text)
}

t.test('pglite.yaml keeps its memories when the process is killed, in the folder beside the examples', async (t) => {
  const cwd = copyOfExamples(t)
  const first = await startServer(t, environmentOf('pglite.yaml'), { cwd })
  t.equal(await retain(first.url, 'Alice drinks green tea.'), 200)
  t.ok(existsSync(join(cwd, 'data/db')), 'the folder is where the file says')
  first.process.kill('SIGKILL')
  await first.ended
  const second = await startServer(t, environmentOf('pglite.yaml'), { cwd })
  t.same(await contents(second.url), ['Alice drinks green tea.'])
})

t.test('postgres.yaml is migrated and starts with the commands ' +
  'that it names', { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }, async (t) => {
  const cwd = copyOfExamples(t)
  const file = join(cwd, 'examples/postgres.yaml')
  const shown = readFileSync(file, 'utf8')
  t.match(shown, /^ {2}schema: memory_gateway$/m, 'the schema that the documents name')
  writeFileSync(file, shown.replace('schema: memory_gateway', `schema: ${freshSchema(t)}`))
  const { DATABASE_URL: shownUrl, ...rest } = environmentOf('postgres.yaml')
  t.match(
    shown, `# First: DATABASE_URL=${shownUrl} SERVICES_CONFIG_PATH=${rest['SERVICES_CONFIG_PATH']} npm run migrate`,
  )
  const env = { ...rest, DATABASE_URL: DATABASE_URL ?? '' }
  const { stdout } = await run(process.execPath, [`${ROOT}dist/scripts/migrate.js`], { cwd, env })
  t.match(stdout, 'applied 0001_memories.sql')
  const server = await startServer(t, env, { cwd })
  t.equal((await fetch(`${server.url}/health`)).status, 200)
  t.equal(await retain(server.url, 'Alice drinks green tea.'), 200)
  t.same(await contents(server.url), ['Alice drinks green tea.'])
})

t.test('the list of examples names each of them', async (t) => {
  const list = readFileSync(`${ROOT}examples/README.md`, 'utf8')
  for (const file of examples) t.match(list, `](${file})`)
})

t.test('personal-assistant.yaml separates users and lets support read', async (t) => {
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

t.test('webhooks.yaml accepts a signed event of the shop and refuses an unsigned one', async (t) => {
  const server = await startServer(t, environmentOf('webhooks.yaml'), { cwd: ROOT })
  const body = JSON.stringify({ event: { summary: 'Order 17 was shipped.' } })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const send = async (headers: Record<string, string>) => (
    await fetch(`${server.url}/v1/ingest/webhook/shop`, {
      method: 'POST', body, headers: { 'content-type': 'application/json', ...headers },
    })
  )
  const signature = createHmac('sha256', 'change-me').update(`${timestamp}.${body}`).digest('hex')
  t.equal((await send({})).status, 401)
  t.equal((await send({ 'x-signature-256': `sha256=${signature}`, 'x-shop-timestamp': timestamp })).status, 200)
})
