import t from 'tap'
import type { Environment } from '../../../lib/config/environment.js'
import { load, loadYaml, type Files } from './load-with.js'

const QUIET: Environment = { SERVICE_ADMIN_TOKEN: 'admin' }
const KEY: Environment = { ...QUIET, SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'k' }
const JWT: Environment = {
  ...QUIET, SERVICE_AUTH_MODE: 'jwt', SERVICE_JWT_SECRET: 's'.repeat(32), SERVICE_JWT_AUDIENCE: 'a',
}
const OIDC: Environment = {
  ...QUIET,
  SERVICE_AUTH_MODE: 'jwt_oidc',
  SERVICE_OIDC_JWKS_URL: 'https://id.example/k',
  SERVICE_OIDC_ISSUER: 'i',
  SERVICE_OIDC_AUDIENCE: 'a',
}
const GRANT = 'access_grants: [{bank_id: a, principal: b, permissions: [read]}]'
const OPEN_SOURCE = 'sources: {s: {type: webhook, target_bank: b, auth: {type: none}}}'

interface Case { env: Environment, yaml?: string, warnings: string[] }

function check (t: Tap, cases: Record<string, Case>) {
  for (const [name, { env, yaml = '', warnings }] of Object.entries(cases)) {
    t.same(loadYaml(yaml, env).warnings, warnings, name)
  }
}

type Tap = Pick<typeof t, 'same'>

await t.test('a complete configuration of each mode has no warning', async (t) => {
  check(t, {
    dev: { env: QUIET, warnings: [] },
    api_key: { env: KEY, yaml: `access_control: {enabled: true}\n${GRANT}`, warnings: [] },
    jwt: { env: JWT, yaml: 'access_control: {enabled: true}', warnings: [] },
    oidc: { env: OIDC, yaml: 'identity: {obo_enabled: true}', warnings: [] },
    'a false switch of dev mode': { env: { ...KEY, SERVICE_ALLOW_DEV_AUTH: 'no' }, warnings: [] },
    'an open source on loopback': { env: QUIET, yaml: OPEN_SOURCE, warnings: [] },
    'key set on this machine': { env: { ...OIDC, SERVICE_OIDC_JWKS_URL: 'http://[::1]/k' }, warnings: [] },
  })
})

await t.test('identity that is weaker than it looks causes a warning', async (t) => {
  check(t, {
    'no admin token': { env: {}, warnings: ['SERVICE_ADMIN_TOKEN is not set: admin routes are unprotected'] },
    'dev in public': {
      env: { ...QUIET, SERVICES_HOST: '::', SERVICE_ALLOW_DEV_AUTH: '1' },
      warnings: ['SERVICE_ALLOW_DEV_AUTH: dev mode trusts every caller, and SERVICES_HOST is not a loopback address'],
    },
    'no audience': {
      env: { ...JWT, SERVICE_JWT_AUDIENCE: undefined },
      warnings: ['SERVICE_JWT_AUDIENCE is not set: audience validation is skipped'],
    },
    'short secret': {
      env: { ...JWT, SERVICE_JWT_SECRET: 's'.repeat(31) },
      warnings: ['SERVICE_JWT_SECRET is shorter than 32 bytes: tokens signed with it can be forged by guessing'],
    },
    'bytes, not characters': { env: { ...JWT, SERVICE_JWT_SECRET: 'ß'.repeat(16) }, warnings: [] },
    'key set over http': {
      env: { ...OIDC, SERVICE_OIDC_JWKS_URL: 'http://id.example/k' },
      warnings: ['SERVICE_OIDC_JWKS_URL uses http: an attacker on the network can substitute other keys'],
    },
    'key that no header can carry': {
      env: { ...KEY, SERVICE_API_KEY: 'k ' },
      warnings: ['SERVICE_API_KEY begins or ends with white space, which no header can carry: it will never match'],
    },
    'key outside ASCII': {
      env: { ...KEY, SERVICE_API_KEY: 'clé' },
      warnings: ['SERVICE_API_KEY has characters outside printable ASCII, which clients do not send alike in a ' +
        'header, or not at all: it may never match'],
    },
  })
})

await t.test('a missing setting of the selected mode is no warning, because it is logged as an error', async (t) => {
  check(t, {
    api_key: { env: { ...KEY, SERVICE_API_KEY: undefined }, warnings: [] },
    oidc: { env: { ...QUIET, SERVICE_AUTH_MODE: 'jwt_oidc' }, warnings: [] },
  })
})

await t.test('a setting of a mode that is not selected causes a warning', async (t) => {
  const idle = (mode: string, name: string) => [`${name} is set and has no effect: SERVICE_AUTH_MODE is ${mode}`]
  check(t, {
    'key in jwt': { env: { ...JWT, SERVICE_API_KEY: 'k' }, warnings: idle('jwt_hs256', 'SERVICE_API_KEY') },
    'secret in dev': { env: { ...QUIET, SERVICE_JWT_SECRET: 's' }, warnings: idle('dev', 'SERVICE_JWT_SECRET') },
    'actor type in api_key': {
      env: { ...KEY, SERVICE_OIDC_ACTOR_TYPE: 'agent' }, warnings: idle('api_key', 'SERVICE_OIDC_ACTOR_TYPE'),
    },
    'audience in oidc': {
      env: { ...OIDC, SERVICE_JWT_AUDIENCE: 'a' }, warnings: idle('jwt_oidc', 'SERVICE_JWT_AUDIENCE'),
    },
    'host names in api_key': {
      env: { ...KEY, SERVICES_ALLOWED_HOSTS: 'a' }, warnings: idle('api_key', 'SERVICES_ALLOWED_HOSTS'),
    },
    'dev switch in api_key': {
      env: { ...KEY, SERVICE_ALLOW_DEV_AUTH: '1' }, warnings: idle('api_key', 'SERVICE_ALLOW_DEV_AUTH'),
    },
  })
})

await t.test('access control that does not do what it seems to causes a warning', async (t) => {
  check(t, {
    'in dev mode': {
      env: QUIET,
      yaml: 'access_control: {enabled: true}',
      warnings: ['access_control.enabled: in dev mode, anonymous callers bypass access control'],
    },
    'nobody may do anything': {
      env: KEY,
      yaml: 'access_control: {enabled: true, default_policy: deny}',
      warnings: ['access_control: the default policy is deny and there are no grants, so no caller may do anything'],
    },
    'a grant of a bank counts': {
      env: KEY,
      yaml: 'access_control: {enabled: true, default_policy: deny}\nbanks: {a: {access: [{principal: b, ' +
        'permissions: [read]}]}}',
      warnings: [],
    },
    'grants while it is off': {
      env: KEY,
      yaml: GRANT,
      warnings: ['access_grants and banks.<id>.access have no effect: access_control.enabled is not true'],
    },
    'delegation in another mode': {
      env: KEY,
      yaml: 'identity: {obo_enabled: true}',
      warnings: ['identity.obo_enabled has no effect: SERVICE_AUTH_MODE is api_key'],
    },
  })
})

await t.test('an open source on a public address causes a warning that contains its id', async (t) => {
  check(t, {
    public: {
      env: { ...KEY, SERVICES_HOST: '0.0.0.0' },
      yaml: OPEN_SOURCE,
      warnings: ['sources.s.auth: type none on an address that is not loopback lets anyone write to the bank'],
    },
    signed: {
      env: { ...KEY, SERVICES_HOST: '0.0.0.0' },
      yaml: 'sources: {s: {type: webhook, target_bank: b, auth: {type: hmac, secret: x}}}',
      warnings: [],
    },
  })
})

await t.test('a loopback address for the database causes a warning in a container open to others', async (t) => {
  const DATABASE = 'postgres://user:hunter2@127.0.0.1:5432/memory'
  const PUBLIC: Environment = { ...KEY, SERVICES_HOST: '0.0.0.0' }
  const says = (name: string) => [`${name} names a loopback address, and this process runs in a container, where it ` +
    'is the address of the container itself, not of the host or another container. Use the service name of the ' +
    'database, unless the database runs in the same pod']
  const inDocker = { '/.dockerenv': '', '/uri': DATABASE }
  const warned = (env: Environment, files: Files = inDocker, yaml = 'vector_store: postgres') => (
    loadYaml(yaml, env, files).warnings.filter((warning) => warning.includes('loopback'))
  )
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '[::1]']) {
    t.same(warned({ ...PUBLIC, DATABASE_URL: `postgres://user:hunter2@${host}/memory` }), says('DATABASE_URL'), host)
  }
  t.same(warned({ ...PUBLIC, SERVICES_PG_DSN: DATABASE }), says('SERVICES_PG_DSN'))
  t.same(warned({ ...PUBLIC, DATABASE_URL_FILE: '/uri' }), says('DATABASE_URL'))
  t.same(warned({ ...PUBLIC, DATABASE_URL: DATABASE }, { '/run/.containerenv': '' }), says('DATABASE_URL'), 'Podman')
  t.same(
    warned({ ...PUBLIC, DATABASE_URL: DATABASE, KUBERNETES_SERVICE_HOST: '10.0.0.1' }, {}), says('DATABASE_URL'),
    'Kubernetes',
  )
  const dsn = `{vector_store: postgres, vector_store_config: {dsn: "${DATABASE}"}}`
  t.same(
    warned({ ...PUBLIC, DATABASE_URL: 'postgres://database/memory' }, inDocker, dsn), says('vector_store_config.dsn'),
    'a setting that is used counts',
  )

  t.same(warned({ ...PUBLIC, DATABASE_URL: DATABASE }, {}), [], 'no container')
  t.same(warned({ ...KEY, DATABASE_URL: DATABASE }), [], 'a gateway for this machine alone')
  for (const host of ['database', 'host.containers.internal', '10.0.0.7', '[fd00::1]']) {
    t.same(warned({ ...PUBLIC, DATABASE_URL: `postgres://user@${host}/memory` }), [], host)
  }
  t.same(warned({ ...PUBLIC, DATABASE_URL: 'no URI' }), [], 'the store reports an invalid URI')
  t.same(warned(PUBLIC), [], 'no database')
})

const LOST = (variable: string, file: string) => (
  `${variable} is set and not used: vector_store is in_memory, so memories are not kept and are lost when the ` +
    `process ends. To keep them in that database, write "vector_store: postgres" in ${file}`
)
const URI = 'postgres://user:Zq-secret@db/main'

await t.test('a database that the selected store does not use causes a warning', async (t) => {
  const NAMED = 'the file that SERVICES_CONFIG_PATH names'
  check(t, {
    'the default store': { env: { ...QUIET, DATABASE_URL: URI }, warnings: [LOST('DATABASE_URL', NAMED)] },
    'the same by its name': {
      env: { ...QUIET, SERVICES_PG_DSN: URI },
      yaml: 'vector_store: in_memory',
      warnings: [LOST('SERVICES_PG_DSN', NAMED)],
    },
    'a store that uses it': { env: { ...QUIET, DATABASE_URL: URI }, yaml: 'vector_store: postgres', warnings: [] },
    'a class that may use it': {
      env: { ...QUIET, DATABASE_URL: URI }, yaml: 'vector_store: ./store.mjs:Store', warnings: [],
    },
    'a store that is told another': {
      env: { ...QUIET, DATABASE_URL: URI },
      yaml: 'vector_store: postgres\nvector_store_config: {dsn: "postgres://other/db"}',
      warnings: ['DATABASE_URL is set and not used: vector_store_config.dsn takes precedence'],
    },
    'a store that is told the same': {
      env: { ...QUIET, DATABASE_URL: URI },
      yaml: 'vector_store: postgres\nvector_store_config: {dsn: "$' + '{DATABASE_URL}"}',
      warnings: [],
    },
    'no store in memory, no database': { env: QUIET, warnings: [] },
  })
  t.same(load({ ...QUIET, DATABASE_URL: URI }).warnings, [
    LOST('DATABASE_URL', 'a file that SERVICES_CONFIG_PATH names'),
  ])
  t.same(load({ ...QUIET, DATABASE_URL_FILE: '/run/url' }, { '/run/url': URI }).warnings, [
    LOST('DATABASE_URL', 'a file that SERVICES_CONFIG_PATH names'),
  ])
})

await t.test('a source whose memories no caller can read causes a warning', async (t) => {
  const WITHOUT = 'sources.s: there is no tenant_id, so only callers without a tenant can read what it sends'
  const TENANT = OPEN_SOURCE.replace('type: webhook', 'type: webhook, tenant_id: acme')
  check(t, {
    'without a tenant where callers have one': { env: OIDC, yaml: OPEN_SOURCE, warnings: [WITHOUT] },
    'with a tenant where callers have one': { env: OIDC, yaml: TENANT, warnings: [] },
    'with a tenant where callers have none': {
      env: KEY,
      yaml: TENANT,
      warnings: ['sources.s.tenant_id: callers have no tenant in SERVICE_AUTH_MODE api_key, so none of them can read ' +
        'what it sends'],
    },
  })
})

await t.test('a port in a variable of another convention causes a warning, unless ours is set too', async (t) => {
  check(t, {
    'PORT alone': {
      env: { ...QUIET, PORT: '3000' },
      warnings: ['PORT is set but ignored: the server takes its port from SERVICES_PORT, which is not set'],
    },
    'PORT beside ours': { env: { ...QUIET, PORT: '3000', SERVICES_PORT: '3000' }, warnings: [] },
  })
})

await t.test('a weight for vectors without meaning causes a warning, because it has an effect', async (t) => {
  check(t, {
    mock: {
      env: QUIET,
      yaml: 'embedding_provider: mock\nretrieval: {weights: {semantic: 1}}',
      warnings: ['retrieval.weights.semantic: embedding_provider is mock, whose vectors represent words and no ' +
        'meaning; set embedding_provider to search by meaning'],
    },
    'switched off': { env: QUIET, yaml: 'retrieval: {weights: {semantic: 0}}', warnings: [] },
    'the default': { env: QUIET, yaml: 'retrieval: {weights: {semantic: 1}}', warnings: [] },
    'a provider that knows meaning': {
      env: QUIET, yaml: 'embedding_provider: local\nretrieval: {weights: {semantic: 1}}', warnings: [],
    },
  })
})

await t.test('a time of the reranker for which no recall waits has a warning', async (t) => {
  const warning = (inner: number, outer: number) => (
    `reranker_config.timeout_ms is ${inner}, and a recall goes on without the reranker after ` +
      `retrieval.rerank.timeout_ms, ${outer}: a slow endpoint never opens the circuit breaker; set ` +
      `reranker_config.timeout_ms to less than ${outer}`
  )
  const endpoint = (more: string, ...warnings: string[]) => ({
    env: QUIET, yaml: `reranker: rerank_endpoint\n${more}`, warnings,
  })
  const recalls = (ms: number) => `retrieval: {rerank: {timeout_ms: ${ms}}}\n`
  check(t, {
    'by default': endpoint(''),
    'recalls wait longer than the default': endpoint(recalls(1201)),
    'recalls wait as long': endpoint(recalls(1200), warning(1200, 1200)),
    'recalls wait less long': endpoint(recalls(500), warning(1200, 500)),
    'both are set': endpoint(`${recalls(500)}reranker_config: {timeout_ms: 400}`),
    'longer than recalls wait by default': endpoint('reranker_config: {timeout_ms: 2000}', warning(2000, 1500)),
    'a bank waits longer': endpoint(`${recalls(500)}banks: {home: {retrieval: {rerank: {timeout_ms: 1300}}}}`),
    'a profile waits longer': endpoint(`${recalls(500)}profiles: {slow: {retrieval: {rerank: {timeout_ms: 1300}}}}`),
    'a model in the process': { env: QUIET, yaml: `reranker: transformers\n${recalls(500)}`, warnings: [] },
  })
})

await t.test('a time for the embedding of a query for which no recall waits has a warning', async (t) => {
  const warning = (inner: number, outer: number) => (
    `embedding_provider_config.query_timeout_ms is ${inner}, and a recall goes on without the embedding of its query ` +
      `after retrieval.semantic_timeout_ms, ${outer}: a slow endpoint never opens the circuit breaker; set ` +
      `embedding_provider_config.query_timeout_ms to less than ${outer}`
  )
  const endpoint = (more: string, ...warnings: string[]) => ({
    env: QUIET, yaml: `embedding_provider: openai_compatible\n${more}`, warnings,
  })
  const config = (settings: string) => `embedding_provider_config: {${settings}}\n`
  const recalls = (ms: number) => `retrieval: {semantic_timeout_ms: ${ms}}\n`
  const slow = 'retrieval: {semantic_timeout_ms: 2001}'
  check(t, {
    'by default': endpoint(''),
    'recalls wait longer than the default': endpoint(recalls(2001)),
    'recalls wait as long': endpoint(recalls(2000), warning(2000, 2000)),
    'both are set': endpoint(`${recalls(500)}${config('query_timeout_ms: 400')}`),
    'longer than recalls wait by default': endpoint(config('query_timeout_ms: 4000'), warning(4000, 3000)),
    'an attempt is shorter': endpoint(config('query_timeout_ms: 4000, timeout_ms: 1000')),
    'an attempt is not shorter': endpoint(config('query_timeout_ms: 4000, timeout_ms: 3000'), warning(4000, 3000)),
    'a bank waits longer': endpoint(`${recalls(500)}banks: {home: {${slow}}}`),
    'a profile waits longer': endpoint(`${recalls(500)}profiles: {patient: {${slow}}}`),
    'a model in the process': { env: QUIET, yaml: `embedding_provider: local\n${recalls(500)}`, warnings: [] },
  })
})
