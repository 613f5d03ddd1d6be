import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { clockFinding } from '../../cli/doctor/clock.js'
import { runCli, type CliOptions } from '../helpers/cli.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { answering, startModelServer, UNUSED_URL } from '../helpers/model-server.js'
import { rsaKey } from '../helpers/tokens.js'

interface Report {
  ok: boolean
  findings: Array<{ check: string, status: string, message: string, advice?: string }>
}

async function doctor (
  args: string[], options: CliOptions,
): Promise<Report & { code: unknown, of: (check: string) => string }> {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...args], options)
  if (stdout === '') throw new Error(stderr)
  const report = JSON.parse(stdout) as Report
  return {
    ...report,
    code,
    of: (check) => (
      report.findings.filter((found) => found.check === check).map(({ status, message }) => `${status}: ${message}`)
        .join('\n')
    ),
  }
}

t.test('with the defaults doctor finds no problem, and reports what is not stored durably', async (t) => {
  const { code, stdout, stderr } = await runCli(['doctor'])
  t.same([code, stderr], [0, ''])
  t.match(stdout, /^ok {7}configuration: from the environment alone\nwarning {2}configuration: SERVICE_ADMIN_TOKEN/)
  t.match(
    stdout,
    new RegExp([
      String.raw`\nok {7}embedding provider: auto returns vectors of (?:512|256) dimensions`,
      String.raw`\nok {7}language model: mock answers`,
      String.raw`\nskipped {2}database: vector_store is in_memory`,
    ].join('')),
  )
  t.equal((await runCli(['doctor', '--dat'])).code, 2)
})

const UNKNOWN = ['embedding provider', 'language model', 'reranker', 'database'].map((check) => [check, 'skipped'])

t.test('with an invalid file doctor checks authentication and names the checks that it skips', async (t) => {
  const provider = await startJwksServer(rsaKey('one'))
  t.teardown(async () => { await provider.close() })
  const cwd = t.testdir({ 'c.yaml': 'vector_stor: pglite\nmission: 5\n' })
  const env = {
    SERVICE_AUTH_MODE: 'jwt_oidc',
    SERVICE_OIDC_JWKS_URL: provider.url,
    SERVICE_OIDC_ISSUER: 'i',
    SERVICE_OIDC_AUDIENCE: 'a',
  }
  const good = await doctor(['--config', 'c.yaml'], { cwd, env })
  t.same([good.ok, good.code], [false, 1])
  t.match(good.of('configuration'), /^failed: vector_stor.*\nfailed: mission/)
  t.equal(good.of('authentication'), 'ok: the identity provider has 1 key')
  t.equal(good.of('database'), 'skipped: not checked, because the configuration has problems')
  t.same(good.findings.slice(-UNKNOWN.length).map(({ check, status }) => [check, status]), UNKNOWN)
  provider.publish()
  const bad = await doctor(['--config', 'nowhere.yaml'], { cwd, env })
  t.match(bad.of('configuration'), /nowhere\.yaml/)
  t.match(bad.of('authentication'), /^failed: the key set has no RSA key/)
})

t.test('with an invalid environment doctor checks authentication if its own variables are right', async (t) => {
  const { ok, code, findings } = await doctor([], { env: { SERVICES_PORT: 'x', SERVICE_AUTH_MODE: 'y' } })
  t.same([ok, code], [false, 1])
  t.same(findings.map(({ check, status }) => [check, status]), [
    ['configuration', 'failed'], ['configuration', 'failed'], ['authentication', 'skipped'], ...UNKNOWN,
  ])
  const key = await doctor([], { env: { SERVICES_PORT: 'x', SERVICE_AUTH_MODE: 'api_key' } })
  t.match(key.of('authentication'), /^failed: SERVICE_AUTH_MODE api_key answers every request with 500/)
  const cwd = t.testdir({ '.env': 'SERVICE_API_KEY' })
  const unread = await doctor([], { cwd, env: { SERVICE_AUTH_MODE: 'api_key' } })
  t.match(unread.of('configuration'), /^failed: \.env: line 1 is not of the form NAME=value$/)
  t.match(unread.of('authentication'), /^skipped: /)
})

t.test('doctor fetches the keys of the identity provider', async (t) => {
  const provider = await startJwksServer(rsaKey('one'))
  t.teardown(async () => { await provider.close() })
  const env = {
    SERVICE_AUTH_MODE: 'jwt_oidc',
    SERVICE_OIDC_JWKS_URL: provider.url,
    SERVICE_OIDC_ISSUER: 'i',
    SERVICE_OIDC_AUDIENCE: 'a',
  }
  const good = await doctor([], { env })
  t.equal(good.code, 0)
  t.equal(good.of('authentication'), 'ok: the identity provider has 1 key')
  t.equal(good.of('clock of the identity provider'), 'ok: it agrees with that of this machine')
  for (const unusable of [[], [rsaKey('weak', 1024)]]) {
    provider.publish(...unusable)
    t.match((await doctor([], { env })).of('authentication'), /^failed: the key set has no RSA key of at least 2048/)
  }
  provider.answer(
    (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json', date: 'Mon, 01 Jan 2024 00:00:00 GMT',
      }).end('{"keys":[]}')
    },
  )
  t.match(
    (await doctor([], { env })).of('clock of the identity provider'),
    /^failed: this machine's clock is [\d.]+ s ahead of it/,
  )
  provider.answer((_request, response) => { response.writeHead(500).end() })
  const broken = await doctor([], { env })
  t.equal(broken.code, 1)
  t.equal(broken.of('authentication'), 'failed: The key set was answered with status 500')
  t.match(
    (await doctor([], { env: { SERVICE_AUTH_MODE: 'api_key' } })).findings.find(({ check }) => (
      check === 'authentication'
    )),
    { status: 'failed', advice: 'set SERVICE_API_KEY' },
  )
})

t.test('doctor reports models that do not answer and a missing database', async (t) => {
  const url = UNUSED_URL
  const database = createServer((socket) => { socket.destroy() }).listen(0, '127.0.0.1')
  await once(database, 'listening')
  t.teardown(() => { database.close() })
  const address = database.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  const settings = `{base_url: "${url}", model: m, api_key_env: KEY`
  const cwd = t.testdir({
    'c.yaml': 'vector_store: postgres\nembedding_provider: openai_compatible\nembedding_provider_config: ' +
      `${settings}, dimensions: 8, max_retries: 0}\nllm_provider: openai_compatible\nllm_provider_config: ` +
      `${settings}, max_retries: 0}\n`,
  })
  const report = await doctor(['--config', 'c.yaml'], {
    cwd, env: { KEY: 'k', DATABASE_URL: `postgres://app:hunter2@127.0.0.1:${address.port}/memory` },
  })
  t.equal(report.code, 1)
  for (const check of ['embedding provider', 'language model', 'database']) {
    t.match(report.of(check), /^failed: /, check)
  }
  t.notMatch(JSON.stringify(report), /hunter2/)
})

t.test('doctor shows what the endpoint of a model answered, without the key', async (t) => {
  const server = await startModelServer(t)
  const answer = { error: { message: 'Incorrect API key provided: sk-hunter2', code: 'invalid_api_key' } }
  server.always(answering(401, JSON.stringify(answer)))
  const cwd = t.testdir({
    'c.yaml': `llm_provider: openai_compatible\nllm_provider_config: {base_url: "${server.url}", model: m, ` +
      'api_key: sk-hunter2}\n',
  })
  const { code, stdout } = await runCli(['doctor', '--config', 'c.yaml'], { cwd })
  t.equal(code, 1)
  t.match(stdout, '\nfailed   language model: The language model answered 401 (invalid_api_key)\n         check base')
  t.notMatch(stdout, /hunter2|\n +at /)
})

t.test('a folder is migrated, passes the examination, and its banks are moved to other vectors', async (t) => {
  const cwd = t.testdir({
    'c.yaml': 'vector_store: pglite\nvector_store_config: {data_dir: data, bootstrap_schema: false}\n' +
      'retrieval: {weights: {semantic: 1}}\n',
  })
  const options = { cwd, env: { SERVICES_CONFIG_PATH: 'c.yaml' } }
  t.match((await doctor([], options)).of('database'), /^ok: .*data is created when the server starts/)
  t.notOk(existsSync(join(cwd, 'data')), 'looking makes nothing')
  const migrated = await runCli(['migrate'], options)
  t.equal(migrated.code, 0, migrated.stderr)
  t.match(migrated.stdout, /^applied 0001_memories\.sql\n[^]*is up to date\n$/)
  t.same(
    await runCli(['migrate', '--json'], options).then(({ code, stdout }) => [code, JSON.parse(stdout)]),
    [0, { applied: [] }],
  )
  t.match(await runCli(['migrate', '--partitions', '3'], options), { code: 0, stdout: /divided into 3 partitions: m/ })
  t.match(await runCli(['migrate', '--partitions', '3'], options), { code: 0, stdout: /tables of banks have 3 partit/ })
  for (const [args, stderr] of [
    [['--partitions', '4'], /has 3 partitions, and that number cannot be changed/],
    [['--distribute'], /does not have the extension citus/],
    [['--distribute', '--partitions', '3'], /exclude each other/],
    [['--shards', '3'], /--shards needs --distribute/],
  ] as const) t.match(await runCli(['migrate', ...args], options), { code: 1, stderr })
  const report = await doctor([], options)
  t.equal(report.code, 0)
  t.match(report.of('database'), /^ok: PostgreSQL \d+/)
  t.equal(report.of('migrations'), 'ok: all are applied')
  t.match(report.of('extension'), /^ok: pgvector \d/)
  t.match(await runCli(['reembed', '--bank', 'nowhere'], options), {
    code: 1, stdout: /^(?:embedding_provider: auto chose .+\n)?$/, stderr: /has no such bank with memories/,
  })
  t.match(await runCli(['reembed'], options), {
    code: 0,
    stdout: /^(?:embedding_provider: auto chose .+\n)?The .*data.* has no memories: there is nothing to do\n$/i,
    stderr: '',
  })
  const nothing = await runCli(['reembed', '--json'], options)
  t.match([nothing.code, JSON.parse(nothing.stdout), nothing.stderr], [0, { banks: [] }, /nothing to do/])
  t.equal((await runCli(['reembed', '--batch', '0'], options)).code, 2)
  t.match(await runCli(['migrate'], { cwd }), { code: 1, stdout: '', stderr: /needs a connection URI/ })
})

t.test('clocks that differ by less than the time of the exchange count as equal', async (t) => {
  const at = (theirs: number) => clockFinding('clock', theirs, { sent: 10_000, received: 11_000 }, 1000)
  t.equal(at(9500).status, 'ok')
  t.equal(at(11_000).status, 'ok')
  t.match(at(16_000), { status: 'warning', message: "this machine's clock is 5.0 s behind it" })
  t.match(at(-30_000), { status: 'failed', message: "this machine's clock is 39.0 s ahead of it", advice: /NTP/ })
})
