/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import { Ajv } from 'ajv'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { checkedConfig } from '../../cli/config/check.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import { runCli } from '../helpers/cli.js'
import { rejection } from '../helpers/rejection.js'
import { startServer } from '../helpers/server.js'

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

t.test('config check reports that all is right, or every problem', async (t) => {
  const cwd = t.testdir({
    'right.yaml': 'vector_store: pglite\nvector_store_config: {data_dir: data}\n',
    'wrong.yaml': 'vector_stor: pglite\n',
    'memory.yaml': 'vector_store_config: {max_bytes: 1048576}\n',
    'default.yaml': 'vector_store_config: {dsn: x}\n',
    'provider.yaml': 'vector_store: pglite\nvector_store_config: {data_dri: data}\n',
  })
  const right = await runCli(['config', 'check', '--config', 'right.yaml'], { cwd })
  t.same([right.code, right.stdout], [0, 'right.yaml: the configuration is valid\n'])
  t.match(right.stderr, /^warning: SERVICE_ADMIN_TOKEN is not set/)
  const wrongMode = { SERVICE_AUTH_MODE: 'api_key', SERVICES_CONFIG_PATH: 'wrong.yaml' }
  const lacking = await runCli(['config', 'check', '--json'], { cwd, env: wrongMode })
  t.equal(lacking.code, 1)
  t.match(JSON.parse(lacking.stdout), { ok: false, problems: [/vector_stor/, /SERVICE_API_KEY not set: .*500/] })
  t.match(await runCli(['config', 'check'], { cwd, env: { SERVICE_AUTH_MODE: 'api_key' } }), {
    code: 1, stdout: '', stderr: /SERVICE_API_KEY not set: SERVICE_AUTH_MODE api_key answers every request with 500/,
  })
  const wrong = await runCli(['config', 'check'], {
    cwd, env: { SERVICES_CONFIG_PATH: 'wrong.yaml', SERVICES_PORT: 'x' },
  })
  t.same([wrong.code, wrong.stdout], [1, ''])
  t.match(wrong.stderr, /^The configuration has 2 problems:\n- SERVICES_PORT[^]*did you mean "vector_store"/)
  const provider = await runCli(['config', 'check', '--config', 'provider.yaml', '--json'], { cwd })
  t.equal(provider.code, 1)
  t.match(JSON.parse(provider.stdout), { ok: false, problems: [/vector_store_config\.data_dri/] })
  t.equal(
    (await runCli(['config', 'check', '--config', 'memory.yaml'], { cwd })).code, 0, 'settings of the default store',
  )
  t.match(await runCli(['config', 'check', '--config', 'default.yaml'], { cwd }), {
    code: 1, stderr: /vector_store_config\.dsn: is not a known key/,
  })
  t.equal((await runCli(['config', 'chek'])).code, 2)
})

t.test('config check finds every problem that would end the start', async (t) => {
  const model = (settings: string) => `llm_provider: openai_compatible\nllm_provider_config: {model: m, ${settings}}\n`
  const embedding = 'embedding_provider: openai_compatible\nembedding_provider_config: {model: m, base_url: ' +
    '"http://host/v1", fusion_weight: 0}\n'
  const cases: Array<[yaml: string, problem: RegExp]> = [
    ['vector_store: postgress\n', /^vector_store: found "postgress", .*:Class; did you mean "postgres"\?$/],
    ['embedding_provider: lokal\n', /^embedding_provider: found "lokal", .*; did you mean "local"\?$/],
    ['llm_provider: antropic\n', /^llm_provider: found "antropic", .*; did you mean "anthropic"\?$/],
    ['reranker: rerank_endpont\n', /^reranker: found "rerank_endpont", .*; did you mean "rerank_endpoint"\?$/],
    [
      'vector_store: postgres\nvector_store_config: {dsn: "postgres://app:hunter2@db/memory?sslmode=requird"}\n',
      /^vector_store_config\.dsn: sslmode must be disable, prefer, require or verify-full \(the value is not shown\)$/,
    ],
    ['embedding_provider: "./own.mjs:"\n', /^embedding_provider: found/],
    [
      'embedding_provider: mock\nretrieval: {weights: {lexical: 0}}\n',
      /^retrieval\.weights: one of lexical and semantic must be above 0$/,
    ],
    [
      `${embedding}retrieval: {weights: {lexical: 0}}\n`,
      /^retrieval\.weights: one of lexical and semantic must be above 0$/,
    ],
    [
      `${embedding}banks: {x: {retrieval: {weights: {semantic: 1}}}}\n`,
      /^banks\.x\.retrieval\.weights\.semantic: must be 0 while/,
    ],
    [
      'embedding_provider: local\nbanks: {x: {retrieval: {weights: {lexical: 0, semantic: 0}}}}\n',
      /^banks\.x\.retrieval\.weights: one of/,
    ],
    [
      model('base_url: "http://user:hunter2@host/v1"'),
      /^llm_provider_config\.base_url: must be an http or https URL without/,
    ],
    [
      model('base_url: "http://host/v1", api_key_env: NOT_SET'),
      /^llm_provider_config\.api_key_env: .* NOT_SET is not set$/,
    ],
    [
      model('base_url: "http://host/v1", headers: {"bad name": hunter2}'),
      /^llm_provider_config: one of headers cannot be sent/,
    ],
    [
      embedding.replace('fusion_weight: 0', 'send_dimensions: true'),
      /^embedding_provider_config: send_dimensions needs dimensions$/,
    ],
    [
      'llm_provider: anthropic\nllm_provider_config: {model: m, api_key: hunter2, temperature: 0.5, top_p: 0.5}\n',
      /^llm_provider_config: only one of temperature, top_p may be set$/,
    ],
    [
      'reranker: rerank_endpoint\nreranker_config: {base_url: "http://host/v1"}\n',
      /^reranker_config\.model: is required$/,
    ],
    ['vector_store: postgres\n', /^vector_store: postgres needs a connection URI/],
    [
      'embedding_provider: mock\nembedding_provider_config: {dimensions: 3}\n',
      /^embedding_provider_config: dimensions is not a known key; there is nothing to set$/,
    ],
    [
      'embedding_provider: auto\nembedding_provider_config: {dtype: q8}\n',
      /^embedding_provider_config: dtype may be set only with model$/,
    ],
  ]
  for (const [yaml, problem] of cases) {
    const path = join(t.testdir({ 'c.yaml': yaml }), 'c.yaml')
    // The check of the command, without a process for each case.
    const { problems, message } = await rejection(
      ConfigurationError, (async () => { checkedConfig({ SERVICES_CONFIG_PATH: path }) })(),
    )
    t.match(problems, [problem], yaml)
    t.equal(problems.length, 1)
    t.notMatch(message, /hunter/)
  }
})

t.test('a variable is a number or a boolean in the settings of a provider', async (t) => {
  const endpoint = 'embedding_provider: openai_compatible\nembedding_provider_config: {model: m, base_url: ' +
    '"http://host/v1", api_key: "${NUMBER}", query_timeout_ms: "${NUMBER}", dimensions: "${NUMBER}", ' +
    'send_dimensions: "${BOOLEAN}", breaker: {threshold: "${SMALL}"}}\n'
  const cwd = t.testdir({ 'c.yaml': endpoint, 'without.yaml': endpoint.replace('dimensions: "${NUMBER}", ', '') })
  const check = async (file: string, env: Record<string, string>) => {
    const { stdout } = await runCli(['config', 'check', '--config', file, '--json'], { cwd, env })
    return JSON.parse(stdout) as { ok: boolean, problems: string[], warnings: string[] }
  }
  const env = { NUMBER: '5000', BOOLEAN: 'true', SMALL: '3' }
  const right = await check('c.yaml', env)
  t.same([right.ok, right.problems], [true, []])
  t.match(right.warnings.join('\n'), /query_timeout_ms is 5000, and a recall goes on without the embedding/)
  t.match(await check('without.yaml', env), { problems: [/send_dimensions needs dimensions$/] })
  t.match(await check('c.yaml', { ...env, SMALL: 'three' }), {
    ok: false, problems: [/^embedding_provider_config\.breaker\.threshold: must be an integer/],
  })
})

t.test('config show fills in the defaults and shows no secret', async (t) => {
  const cwd = t.testdir({
    'c.yaml': 'vector_store: postgres\nvector_store_config: {dsn: "postgres://app:hunter2@db:5432/memory"}\n' +
      'llm_provider: openai_compatible\nllm_provider_config: {base_url: "${BASE}", model: m, api_key_env: KEY, ' +
      'headers: {X-Proxy: hunter8, X-Part: "hunter8-${BASE}", X-Whole: "${BASE}"}, query_params: {user: hunter9}}\n' +
      'banks:\n  007: {mission: "${HIDDEN}"}\n  1e3: {mission: "${HIDDEN}"}\n' +
      'sources: {s: {type: webhook, target_bank: b, ' +
      'auth: {type: hmac, secret: "hunter3 and more of it, to be long enough"}}}\n',
  })
  const env = {
    SERVICES_CONFIG_PATH: 'c.yaml',
    HIDDEN: 'hunter7',
    BASE: 'https://host.test/hunter4',
    KEY: 'hunter5',
    SERVICE_ADMIN_TOKEN: 'hunter6',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.test/otlp?api-key=hunter10',
    SERVICE_OIDC_JWKS_URL: 'https://id.test/keys?code=hunter11',
  }
  const shown = await runCli(['config', 'show', '--json'], { cwd, env })
  t.equal(shown.code, 0, shown.stderr)
  t.notMatch(shown.stdout, /hunter/)
  t.match(JSON.parse(shown.stdout), {
    environment: { SERVICE_ADMIN_TOKEN: '(not shown)', SERVICES_PORT: '8080' },
    file: {
      vector_store_config: { dsn: '(not shown)' },
      llm_provider_config: {
        base_url: '${BASE}',
        model: 'm',
        api_key_env: 'KEY',
        headers: { 'X-Proxy': '(not shown)', 'X-Part': '(not shown)', 'X-Whole': '${BASE}' },
        query_params: { user: '(not shown)' },
      },
      banks: { '007': { mission: '${HIDDEN}' }, '1e3': { mission: '${HIDDEN}' } },
      access_control: { enabled: false, default_policy: 'owner_only' },
      sources: { s: { auth: { secret: '(not shown)' } } },
    },
  })
  const lines = await runCli(['config', 'show'], { cwd, env })
  t.notMatch(lines.stdout, /hunter/)
  t.match(lines.stdout, /\n# configuration file\nvector_store: postgres\n/)
  t.equal((await runCli(['config', 'show'], { cwd, env: { SERVICES_CONFIG_PATH: 'gone.yaml' } })).code, 1)
})

t.test('the JSON Schema accepts every example and variables as values, and rejects what a start rejects', async (t) => {
  const { code, stdout } = await runCli(['config', 'schema'])
  t.equal(code, 0)
  const isRight = new Ajv({ strict: false, allowUnionTypes: true }).compile(JSON.parse(stdout))
  const examples = readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml') && !/compose|kubernetes/.test(name))
  t.ok(examples.length > 10)
  for (const name of examples) {
    t.ok(isRight(parse(readFileSync(join(EXAMPLES, name), 'utf8'))), `${name}: ${JSON.stringify(isRight.errors)}`)
  }
  const right = [
    'access_control: {enabled: "${ON}"}', 'homeostasis: {recall_max_tokens: "${MANY}"}', 'banks:',
    'vector_store: ./my.mjs:Store\nvector_store_config: {any: thing}',
  ]
  for (const text of right) t.ok(isRight(parse(text)), `${text}: ${JSON.stringify(isRight.errors)}`)
  const wrong = [
    'vector_stor: x', 'access_control: {enabled: "yes"}', 'homeostasis: {recall_max_tokens: many}',
    'vector_store: pglite\nvector_store_config: {data_dri: x}',
  ]
  for (const text of wrong) t.notOk(isRight(parse(text)), text)
})

t.test('token creates a token that the gateway accepts', async (t) => {
  const secret = 'a secret that is long enough for HS256'
  const env = { SERVICE_JWT_SECRET: secret, SERVICE_JWT_AUDIENCE: 'memory', SERVICE_JWT_ISSUER: 'here' }
  const { code, stdout } = await runCli(
    ['token', 'user:ada', '--expires-in', '31536000', '--claim', 'team=blue', '--json'], { env },
  )
  t.equal(code, 0)
  const { claims } = JSON.parse(stdout) as { claims: Record<string, unknown> }
  t.match(claims, { sub: 'user:ada', aud: 'memory', iss: 'here', team: 'blue' })
  t.equal(Number(claims['exp']) - Number(claims['iat']), 31_536_000)

  const server = await startServer(t, { SERVICE_AUTH_MODE: 'jwt_hs256', ...env })
  const made = await runCli(['token', 'user:ada'], { env })
  const asked = { MEMORY_GATEWAY_URL: server.url, MEMORY_GATEWAY_TOKEN: made.stdout.trim() }
  t.same(await runCli(['banks', '--json'], { env: asked }), { code: 0, stdout: '{"banks":[]}\n', stderr: '' })
  t.match(await runCli(['banks'], { env: { ...asked, MEMORY_GATEWAY_TOKEN: `${made.stdout.trim()}x` } }), {
    code: 1, stderr: /Invalid token/,
  })

  for (const [args, expected, said] of [
    [['user ada'], 2, /principal/], [['user:ada', '--claim', 'sub=x'], 2, /the command sets this claim itself/],
    [['user:ada', '--expires-in', '0'], 2, /whole number/],
  ] as const) {
    const wrong = await runCli(['token', ...args], { env })
    t.same([wrong.code, wrong.stdout], [expected, ''])
    t.match(wrong.stderr, said)
  }
  t.match(await runCli(['token', 'user:ada']), { code: 1, stdout: '', stderr: /SERVICE_JWT_SECRET is not set/ })
})

t.test('init writes the name of its file in a form that is read back', async (t) => {
  const folder = t.testdir({})
  for (const [index, output] of ['a\\new.yaml', 'q"x.yaml', 'it\'s.yaml', 'ha#sh.yaml'].entries()) {
    const cwd = join(folder, String(index))
    mkdirSync(cwd)
    const written = await runCli(['init', '--output', output], { cwd })
    t.equal(written.code, 0, written.stderr)
    const check = await runCli(['config', 'check'], { cwd })
    t.equal(check.stdout, `${output}: the configuration is valid\n`, check.stderr)
  }
})

t.test('config check accepts what init writes', async (t) => {
  const cases = [
    ['--yes'], ['--store', 'postgres', '--auth', 'jwt_oidc', '--access', 'on', '--llm', 'anthropic'],
    ['--store', 'in_memory', '--embeddings', 'openai_compatible', '--llm', 'openai_compatible', '--auth', 'api_key'],
    ['--embeddings', 'mock', '--auth', 'jwt_hs256', '--data', './elsewhere'],
  ]
  const folder = t.testdir({})
  for (const [index, args] of cases.entries()) {
    const cwd = join(folder, String(index))
    mkdirSync(cwd)
    const written = await runCli(['init', ...args], { cwd })
    t.same([written.code, written.stdout], [0, ''], written.stderr)
    t.equal(statSync(join(cwd, '.env')).mode & 0o777, 0o600)
    // The values that init leaves to the operator.
    const env = {
      DATABASE_URL: 'postgres://db/memory',
      ANTHROPIC_API_KEY: 'key',
      OPENAI_API_KEY: 'key',
      SERVICE_OIDC_JWKS_URL: 'https://id.example/keys',
      SERVICE_OIDC_ISSUER: 'issuer',
      SERVICE_OIDC_AUDIENCE: 'audience',
    }
    const check = await runCli(['config', 'check'], {
      cwd, env: args.includes('--yes') || args.includes('mock') ? {} : env,
    })
    t.equal(check.code, 0, check.stderr)
    t.equal(check.stdout, 'memory-gateway.yaml: the configuration is valid\n')
    const before = readFileSync(join(cwd, '.env'), 'utf8')
    t.match(await runCli(['init', ...args], { cwd }), { code: 1, stderr: /would be overwritten; use --force/ })
    t.equal(readFileSync(join(cwd, '.env'), 'utf8'), before)
    t.notOk('access_grants' in parse(readFileSync(join(cwd, 'memory-gateway.yaml'), 'utf8')), 'nothing is granted')
    const forced = await runCli(['init', ...args, '--force', '--json'], { cwd })
    t.match(JSON.parse(forced.stdout), { config: 'memory-gateway.yaml', env: '.env', missing: Array })
    t.not(readFileSync(join(cwd, '.env'), 'utf8'), before, 'secrets are new each time')
  }
  t.equal((await runCli(['init', '--store', 'sqlite'])).code, 2)
})

t.test('what init writes into another folder works from everywhere', async (t) => {
  const cwd = t.testdir({ conf: {}, elsewhere: {} })
  t.equal((await runCli(['init', '--yes', '-o', 'conf/gw.yaml'], { cwd })).code, 0)
  for (const [folder, envFile] of [['conf', '.env'], ['.', 'conf/.env'], ['elsewhere', '../conf/.env']] as const) {
    const check = await runCli(['config', 'check', '--env-file', envFile], { cwd: join(cwd, folder) })
    t.match(check, { code: 0, stdout: `${join(cwd, 'conf/gw.yaml')}: the configuration is valid\n` }, folder)
  }
})
