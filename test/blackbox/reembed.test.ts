import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runCommand } from '../helpers/command.js'
import { spawnServer, startServer } from '../helpers/server.js'
import { DATABASE_URL, freshSchema } from '../helpers/sql-stores.js'

const PROVIDER = fileURLToPath(new URL('../fixtures/concept-embeddings.mjs', import.meta.url))

t.test('banks move to another provider beside a running server, and a server of the new one ' +
  'finds by meaning', { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-gateway-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  cpSync(PROVIDER, join(folder, 'concepts.mjs'))
  const schema = freshSchema(t)
  const configure = (name: string, more: object) => {
    const path = join(folder, `${name}.yaml`)
    writeFileSync(path, JSON.stringify({ vector_store: 'postgres', vector_store_config: { schema }, ...more }))
    return { SERVICES_CONFIG_PATH: path, DATABASE_URL: DATABASE_URL! }
  }
  const older = configure('older', { embedding_provider: 'mock', retrieval: { weights: { semantic: 1 } } })
  const newer = configure('newer', { embedding_provider: './concepts.mjs:ConceptEmbeddings' })
  const post = async (url: string, route: string, body: object) => {
    const response = await fetch(`${url}${route}`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() as { hits?: Array<{ text: string }> } }
  }

  const server = await startServer(t, older)
  for (const content of ['The physician comes at nine.', 'The garage has called.', 'Take an umbrella along.']) {
    t.equal((await post(server.url, '/v1/retain', { bank_id: 'home', content })).status, 200)
  }
  const refused = spawnServer(t, { SERVICES_PORT: '0', ...newer })
  t.equal(await refused.ended, 1)
  t.match(
    refused.output(),
    new RegExp([
      String.raw`the configured one makes vectors of \.\/concepts\.mjs:ConceptEmbeddings:3 \(3 dimensions\), but `,
      String.raw`1 bank has vectors of mock:256 \(256 dimensions\).*npm run reembed`,
    ].join('')),
  )

  const mock = await runCommand('reembed', configure('mock', { embedding_provider: 'mock' }))
  t.strictSame([mock.code, mock.stderr.match(/no search would use the vectors of mock/)?.length], [1, 1])
  const nowhere = await runCommand('reembed', newer, ['--bank', 'nowhere'])
  t.equal(nowhere.code, 1)
  t.match(nowhere.stderr, /no such bank/)
  const done = await runCommand('reembed', newer, ['--batch', '2'])
  t.equal(done.code, 0, done.stderr)
  t.match(done.stdout, /^home: 3 memories embedded, moved to \.\/concepts\.mjs:ConceptEmbeddings:3\n1 bank is of/)
  t.match(done.stderr, /home 0\/3 \(0 %\)\nhome 2\/3 \(66 %\)\nhome 3\/3 \(100 %\)/)
  t.equal(
    (await post(server.url, '/v1/recall', { bank_id: 'home', query: 'umbrella' })).body.hits?.[0]?.text,
    'Take an umbrella along.', 'the old server continues to search by words',
  )

  const next = await startServer(t, newer)
  t.equal(
    (await post(next.url, '/v1/recall', { bank_id: 'home', query: 'Which doctor?' })).body.hits?.[0]?.text,
    'The physician comes at nine.',
  )
})

t.test('wrong options and a store without a database are reported', async (t) => {
  const option = await runCommand('reembed', {}, ['--bang'])
  t.equal(option.code, 1)
  t.match(option.stderr, /'--bang'[^]*npm run reembed -- \[--bank BANK\]/)
  const help = await runCommand('reembed', {}, ['--help'])
  t.strictSame([help.code, help.stderr], [0, ''])
  const missing = await runCommand('reembed')
  t.strictSame(
    await runCommand('reembed', {
      MIGRATE_DATABASE_URL: 'postgres://app@127.0.0.1:1/nothing', SERVICES_HOST: '0.0.0.0',
    }),
    missing, 'which only the migration uses',
  )
  t.strictSame([missing.code, missing.stderr], [
    1, 'vector_store: postgres needs a connection URI: set DATABASE_URL, SERVICES_PG_DSN or vector_store_config.dsn\n',
  ])
})
