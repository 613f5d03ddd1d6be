import postgres from 'postgres'
import t, { type Test } from 'tap'
import { readMigrations } from '../../lib/stores/sql/migrations.js'
import { runCli } from '../helpers/cli.js'
import { DATABASE_URL, freshDatabase } from '../helpers/sql-stores.js'

const skip = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false

interface Finding { check: string, status: string, message: string, advice?: string }

/** A login role that is dropped, with what it was granted, when the test ends; to be made after its database. */
async function freshRole (t: Test, database: string): Promise<{ role: string, url: string }> {
  const role = `doctor_${process.pid}`
  const run = async (...statements: string[]) => {
    const sql = postgres(database, { max: 1, onnotice: () => {} })
    for (const statement of statements) await sql.unsafe(statement)
    await sql.end()
  }
  await run(`create role ${role} login`)
  t.teardown(async () => { await run(`drop owned by ${role}`, `drop role ${role}`) })
  const url = new URL(database)
  url.username = role
  return { role, url: url.href }
}

t.test('doctor reports what a database and its role lack, until nothing is lacking', { skip }, async (t) => {
  const owner = await freshDatabase(t)
  const { role, url } = await freshRole(t, owner)
  const cwd = t.testdir({
    'start.yaml': 'vector_store: postgres\n',
    'serve.yaml': 'vector_store: postgres\nvector_store_config: {bootstrap_schema: false}\n',
  })
  const doctor = async (file: string): Promise<{ code: unknown, of: (check: string) => Finding | undefined }> => {
    const { code, stdout } = await runCli(['doctor', '--json', '--config', file], { cwd, env: { DATABASE_URL: url } })
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    return { code, of: (check) => findings.find((found) => found.check === check) }
  }
  const sql = postgres(owner, { max: 1, onnotice: () => {} })
  t.teardown(async () => { await sql.end() })

  const empty = await doctor('serve.yaml')
  t.equal(empty.code, 1)
  t.match(empty.of('extension'), {
    status: 'failed', message: 'pgvector is not in the database', advice: /create extension vector/,
  })
  t.match(empty.of('migrations'), {
    status: 'failed', message: /lacks 0001_memories\.sql/, advice: 'run `memory-gateway migrate`',
  })
  t.equal(empty.of('rights'), undefined, 'there are no tables yet')
  const first = await doctor('start.yaml')
  t.match(first.of('migrations'), { status: 'ok', message: /the server applies 0001_memories\.sql/ })
  t.match(first.of('rights'), {
    status: 'failed',
    message: `the role ${role} may not create the tables`,
    advice: new RegExp(`grant create on database \\S+ to ${role}`),
  })

  const migrated = await runCli(['migrate', '--config', 'serve.yaml'], {
    cwd, env: { DATABASE_URL: url, MIGRATE_DATABASE_URL: owner },
  })
  t.equal(migrated.code, 0, migrated.stderr)
  const bare = await doctor('serve.yaml')
  t.match(bare.of('extension'), { status: 'ok' })
  t.match(bare.of('rights'), {
    status: 'failed', message: new RegExp(`the role ${role} lacks \\d+ rights: delete on bank_`),
  })
  t.equal(bare.of('migrations'), undefined, 'the role cannot see them')
  const advice = bare.of('rights')?.advice ?? ''
  t.match(advice, /^run in the database: grant usage/)
  await sql.unsafe(advice.slice('run in the database: '.length))

  const right = await doctor('serve.yaml')
  t.equal(right.code, 0)
  t.match(right.of('rights'), { status: 'ok', message: `the role ${role} has the rights that the server needs` })
  t.match(right.of('migrations'), { status: 'ok', message: 'all are applied' })
  await sql.unsafe('delete from memory_gateway.schema_migrations where version = (select max(version) from ' +
    'memory_gateway.schema_migrations)')
  t.match((await doctor('start.yaml')).of('rights'), { status: 'ok' }, 'its rows')
  t.equal((await doctor('start.yaml')).code, 1, 'but no other role\'s tables')
})

t.test('doctor reports a wrong encoding, also of a database with tables, and a read-only one', { skip }, async (t) => {
  const cwd = t.testdir({ 'start.yaml': 'vector_store: postgres\n' })
  const url = await freshDatabase(t, 'encoding \'SQL_ASCII\' locale \'C\' template template0')
  const name = `"${new URL(url).pathname.slice(1)}"`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(async () => { await sql.end() })
  const doctor = async (): Promise<{ code: unknown, of: (check: string) => Finding | undefined }> => {
    const { code, stdout } = await runCli(['doctor', '--json', '--config', 'start.yaml'], {
      cwd, env: { DATABASE_URL: url },
    })
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    return { code, of: (check) => findings.find((found) => found.check === check) }
  }
  const wrong = {
    status: 'failed',
    message: 'the encoding of the database is SQL_ASCII, and it must be UTF8',
    advice: /encoding 'UTF8' template template0/,
  }
  const empty = await doctor()
  t.equal(empty.code, 1)
  t.match(empty.of('encoding'), wrong)

  // As versions before the check of the encoding migrated it.
  await sql.unsafe('create schema memory_gateway')
  await sql.unsafe('create table memory_gateway.schema_migrations (version integer primary key, name text not null, ' +
    'checksum text not null, applied_at timestamptz not null default now())')
  for (const { version, name, checksum } of readMigrations()) {
    await sql`insert into memory_gateway.schema_migrations (version, name, checksum)
      values (${version}, ${name}, ${checksum})`
  }
  const migrated = await doctor()
  t.equal(migrated.code, 1)
  t.match(migrated.of('migrations'), { status: 'ok' })
  t.match(migrated.of('encoding'), wrong)
  t.match(migrated.of('database'), { status: 'ok' })

  await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
  const readOnly = await doctor()
  t.equal(readOnly.code, 1)
  t.match(readOnly.of('database'), { status: 'failed', message: /is read-only/, advice: /primary server/ })
})
