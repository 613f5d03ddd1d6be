import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { runCommand } from '../../../helpers/command.js'
import { plainPostgres, skipPlain } from '../../../helpers/plain-postgres.js'
import { spawnServer, startServer } from '../../../helpers/server.js'
import { DATABASE_URL, freshDatabase } from '../../../helpers/sql-stores.js'
import { tcpProxy } from '../../../helpers/tcp-proxy.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

type Tap = Pick<Test, 'testdir'>

function configIn (t: Tap, more: object = {}): string {
  const path = join(t.testdir({}), 'gateway.yaml')
  writeFileSync(path, JSON.stringify({ vector_store: 'postgres', vector_store_config: more }))
  return path
}

t.test('the command and the gateway recognise a server without pgvector and say how ' +
  'to install it', { skip: skipPlain }, async (t) => {
  const { url, major } = await plainPostgres(t)
  const said = `vector_store: pgvector is not installed on the database's server (PostgreSQL ${major}). Install it ` +
    `there and try again: on Debian and Ubuntu it is the package postgresql-${major}-pgvector, and the container ` +
    `image pgvector/pgvector:pg${major} has it\n`
  t.match(await runCommand('migrate', { DATABASE_URL: url }), { code: 1, stdout: '', stderr: said })
  const server = spawnServer(t, { SERVICES_PORT: '0', SERVICES_CONFIG_PATH: configIn(t), DATABASE_URL: url })
  t.equal(await server.ended, 1)
  t.ok(server.output().endsWith(said), server.output())
})

t.test('a database of another encoding is refused before it has a table', { skip }, async (t) => {
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const url = await freshDatabase(t, `encoding '${encoding}' locale 'C' template template0`)
    const refused = await runCommand('migrate', { DATABASE_URL: url })
    t.match(refused, { code: 1, stdout: '' })
    t.match(refused.stderr, `vector_store: the encoding of the database is ${encoding}, and it must be UTF8.`)
    const sql = postgres(url, { max: 1 })
    t.same(await sql.unsafe('select from pg_namespace where nspname = \'memory_gateway\''), [])
    await sql.end()
  }
})

t.test('the message for a role that may not create the extension says what a superuser has to run, and ' +
  'that is enough', { skip }, async (t) => {
  const url = new URL(await freshDatabase(t))
  const role = `test_owner_${process.pid}`
  const administer = async (statement: string) => {
    const sql = postgres(url.href, { max: 1, onnotice: () => {} })
    await sql.unsafe(statement)
    await sql.end()
  }
  await administer(`create role ${role} login password 'of the test'; create schema memory_gateway ` +
    `authorization ${role}`)
  t.teardown(async () => { await administer(`drop owned by ${role} cascade; drop role ${role}`) })
  const guest = new URL(url)
  guest.username = role
  guest.password = 'of the test'
  const refused = await runCommand('migrate', { DATABASE_URL: guest.href })
  t.match(refused, { code: 1, stdout: '' })
  t.equal(refused.stderr, 'vector_store: the role may not create the extension vector (42501). A superuser has to ' +
    'run this in the database once, then try again: create extension vector with schema public\n')
  const statement = /again: (create extension .*)\n/.exec(refused.stderr)?.[1]
  await administer(statement ?? '')
  t.match(await runCommand('migrate', { DATABASE_URL: guest.href }), { code: 0, stderr: '' })
})

t.test('a wrong host or port is named by the command, without the user, the password and the database', async (t) => {
  const places = {
    '127.0.0.1:1': 'ECONNREFUSED (nothing listens on that port)',
    'nowhere.invalid:5433': 'ENOTFOUND (the host name is not known)|EAI_AGAIN (the host name cannot be resolved at ' +
      'the moment)',
    'nowhere.invalid': 'ENOTFOUND (the host name is not known)|EAI_AGAIN (the host name cannot be resolved at ' +
      'the moment)',
    '[::1]:1': 'ECONNREFUSED (nothing listens on that port)|EADDRNOTAVAIL|EAFNOSUPPORT',
  }
  for (const [place, reasons] of Object.entries(places)) {
    const { code, stderr } = await runCommand('migrate', {
      DATABASE_URL: `postgres://hunter1:hunter2@${place}/hunter3`, PGPORT: '7',
    })
    t.equal(code, 1)
    const withPort = /:\d+$/.test(place) ? place : `${place}:5432`
    const allowed = reasons.split('|').map((reason) => `The database at ${withPort} cannot be reached: ${reason}\n`)
    t.ok(allowed.includes(stderr), stderr)
  }
})

t.test('the message for a server without TLS says that sslmode asks for it', async (t) => {
  const server = createServer((socket) => {
    // The answer of PostgreSQL to a request for TLS that it does not offer; it closes the connection after the next
    // message, which it cannot read.
    socket.once('data', () => { socket.write('N', () => { socket.once('data', () => { socket.destroy() }) }) })
    socket.on('error', () => {})
  })
  t.teardown(() => { server.close() })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await runCommand('migrate', {
    DATABASE_URL: `postgres://hunter1:hunter2@127.0.0.1:${port}/hunter3?sslmode=require`,
  })
  t.same([code, stderr], [1, `The database at 127.0.0.1:${port} cannot be reached: ECONNRESET (it ended the ` +
    'connection; a server that does not offer TLS does so when the URI has sslmode)\n'])
})

t.test('a gateway names the host and the port in its log and at its start, and in no answer', { skip }, async (t) => {
  const { proxy, url } = await tcpProxy(t, DATABASE_URL!)
  await proxy.refuse()
  const place = `127.0.0.1:${proxy.port}`
  const refused = spawnServer(t, { SERVICES_PORT: '0', SERVICES_CONFIG_PATH: configIn(t), DATABASE_URL: url })
  t.equal(await refused.ended, 1)
  t.match(
    refused.output(),
    `vector_store: the database cannot be used: The database at ${place} cannot be reached: ECONNREFUSED (nothing ` +
      'listens on that port)',
  )
  const server =
    await startServer(t, { SERVICES_CONFIG_PATH: configIn(t, { bootstrap_schema: false }), DATABASE_URL: url })
  for (const path of ['/health', '/v1/banks']) {
    const response = await fetch(`${server.url}${path}`)
    t.equal(response.status, 503)
    const shown = JSON.stringify([await response.text(), [...response.headers]])
    for (const part of [place, String(proxy.port), 'ECONN']) t.notOk(shown.includes(part), `${path}: ${part}`)
  }
  // What it wrote has arrived whole when it has ended.
  server.process.kill('SIGTERM')
  t.equal(await server.ended, 0)
  const told = server.output().split('\n').filter((line) => line.includes(`The database at ${place} cannot be reached`))
  t.ok(told.length >= 3, 'at the start, and with each request')
})
