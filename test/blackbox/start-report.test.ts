import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runCommand } from '../helpers/command.js'
import { spawnServer, startServer, type RunningServer } from '../helpers/server.js'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const SCRIPT = '/usr/bin/script'
const RUNNING = 'Memory Gateway is running'

/** The log lines up to the report. */
async function linesOf ({ process: child, output }: RunningServer): Promise<Array<Record<string, unknown>>> {
  while (!output().includes(RUNNING) || !output().endsWith('\n')) await once(child.stdout!, 'data')
  return output().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
}

t.test('the start report is one log line without secrets', async (t) => {
  const server = await startServer(t)
  const reports = (await linesOf(server)).filter(({ msg }) => msg === RUNNING)
  t.equal(reports.length, 1)
  const [{ level, time, pid, hostname, msg, ...report }] = reports as [Record<string, unknown>]
  t.equal(level, 30)
  t.same(report, {
    url: server.url,
    docs: `${server.url}/docs`,
    console: `${server.url}/console/`,
    auth_mode: 'dev',
    vector_store: 'in_memory',
    durable: false,
    language_model: 'mock',
    embedding: 'auto (use-lite-en-1)',
    reranker: 'none',
    access_control: 'off',
    metrics: `${server.url}/metrics`,
    configuration: 'no file',
  })
  t.equal((await fetch(String(report['docs']))).status, 200)
})

t.test('the line contains the choices of the configuration, and none of its secrets', async (t) => {
  const cwd = t.testdir({
    'gateway.yaml': [
      'access_control: {enabled: true, default_policy: deny}',
      'llm_provider: openai_compatible',
      'llm_provider_config: {base_url: "http://127.0.0.1:9/v1", model: some-model, api_key: Zq-key}',
      'reranker: rerank_endpoint',
      'reranker_config: {base_url: "http://127.0.0.1:9/v1", model: judge, api_key: Zq-key}',
    ].join('\n'),
  })
  const server = await startServer(t, {
    SERVICES_CONFIG_PATH: 'gateway.yaml',
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: 'Zq-api',
    SERVICE_ADMIN_TOKEN: 'Zq-admin',
    SERVICES_METRICS_PORT: '0',
    DATABASE_URL: 'postgres://user:Zq-password@db.internal/x',
  }, { cwd })
  const lines = await linesOf(server)
  t.match(lines.find(({ msg }) => msg === RUNNING), {
    auth_mode: 'api_key',
    language_model: 'openai_compatible (some-model)',
    reranker: 'rerank_endpoint (judge)',
    access_control: 'on, default policy deny',
    metrics: /^http:\/\/127\.0\.0\.1:\d+\/metrics$/,
    configuration: 'gateway.yaml',
  })
  t.match(
    lines.filter(({ level, msg }) => level === 40 && String(msg).startsWith('DATABASE_URL')).map(({ msg }) => msg),
    [/^DATABASE_URL is set and not used: vector_store is in_memory, so memories are not kept/],
  )
  t.notMatch(server.output(), /Zq|db\.internal/)
})

t.test('on a terminal the start report is readable text', {
  skip: existsSync(SCRIPT) ? false : 'there is no script(1) here',
}, async (t) => {
  const child = spawn(
    SCRIPT, ['-qec', `${process.execPath} ${SERVER}`, '/dev/null'],
    { env: { PATH: process.env['PATH'] ?? '', SERVICES_PORT: '0' }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.on('data', (data: Buffer) => { output += data.toString() })
  const ended = once(child, 'close')
  t.teardown(async () => { child.kill('SIGKILL'); await ended })
  while (!/metrics +http/.test(output)) {
    await Promise.race([once(child.stdout, 'data'), ended.then(() => { throw new Error(output) })])
  }
  const url = /listens on +(http:\S+)/.exec(output)?.[1]
  t.match(output, /^ {2}documentation {3}http:\/\/127\.0\.0\.1:\d+\/docs\r?$/m)
  t.match(output, /^ {2}vector store {4}in_memory: memories are lost when the process ends\r?$/m)
  t.match(output, /^ {2}authentication {2}dev \(trusts every caller; for development\)\r?$/m)
  t.notMatch(output, RUNNING)
  t.equal((await fetch(`${url}/live`)).status, 200)
  // Ctrl-C, by way of the terminal.
  child.stdin.write('\x03')
  await ended
})

t.test('.env in the working directory is read by the server, and the real environment wins', async (t) => {
  const cwd = t.testdir({
    '.env': 'SERVICE_AUTH_MODE=api_key\nSERVICE_API_KEY="from #file"\nSERVICES_PORT=1\nSERVICE_ADMIN_TOKEN=from-file\n',
  })
  const server = await startServer(t, { SERVICE_ADMIN_TOKEN: 'real' }, { cwd })
  const ask = async (path: string, headers: Record<string, string>) => (
    (await fetch(`${server.url}${path}`, { headers })).status
  )
  t.equal(await ask('/v1/whoami', { 'x-api-key': 'from #file', 'x-service-principal': 'user:ada' }), 200)
  t.equal(await ask('/v1/whoami', { 'x-api-key': 'other', 'x-service-principal': 'user:ada' }), 401)
  t.equal(await ask('/v1/admin/sources', { 'x-admin-token': 'real' }), 200)
  t.equal(await ask('/v1/admin/sources', { 'x-admin-token': 'from-file' }), 401)
  t.match((await linesOf(server)).find(({ msg }) => msg === RUNNING), { configuration: 'no file, .env' })
})

t.test('a broken .env ends the start of the server and of the commands with a message', async (t) => {
  const cwd = t.testdir({ '.env': 'SERVICE_API_KEY Zq-secret\n' })
  const server = spawnServer(t, {}, { cwd })
  t.equal(await server.ended, 1)
  t.equal(server.output(), 'The configuration has a problem:\n- .env: line 1 is not of the form NAME=value\n')
  for (const name of ['migrate', 'reembed']) {
    const program = fileURLToPath(new URL(`../../dist/scripts/${name}.js`, import.meta.url))
    const failed = await promisify(execFile)(process.execPath, [program], {
      cwd, env: { PATH: process.env['PATH'] ?? '' },
    }).then(() => undefined, (error: { code: number, stderr: string }) => error)
    t.match(failed, {
      code: 1, stderr: 'The configuration has a problem:\n- .env: line 1 is not of the form NAME=value\n',
    })
  }
})

t.test('a setting that nothing uses ends the start, with its path', async (t) => {
  const cwd = t.testdir({
    'gateway.yaml': 'retrieval: {rerank: {candidates: 5}}\nescalation: {degraded_mode: extractive}\n',
  })
  const server = spawnServer(t, { SERVICES_CONFIG_PATH: 'gateway.yaml' }, { cwd })
  t.equal(await server.ended, 1)
  t.match(server.output(), /^The configuration has 2 problems:\n- escalation: .*\n- retrieval\.rerank: /)
})

t.test('commands report what they lack', async (t) => {
  t.match((await runCommand('migrate')).stderr, /postgres needs a connection URI/)
})
