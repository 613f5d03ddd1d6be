/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import t from 'tap'
import { loadCommand, problemsOf, type Files } from './load-with.js'
import type { Environment } from '../../../lib/config/environment.js'

const MIGRATE = { keys: ['vector_store', 'vector_store_config'], migrates: true } as const
const REEMBED = {
  keys: ['vector_store', 'vector_store_config', 'embedding_provider', 'embedding_provider_config'],
} as const
const URI = 'postgres://owner:a@database:5432/memory'

const problems = (env: Environment, files: Files = {}, use: Parameters<typeof loadCommand>[1] = MIGRATE) =>
  problemsOf(() => loadCommand(env, use, files))
const yaml = (text: string, env: Environment = {}) => (
  [{ SERVICES_CONFIG_PATH: '/etc/gateway.yaml', ...env }, { '/etc/gateway.yaml': text }] as const
)

await t.test('a command is not stopped by a variable of the server that it does not use', async (t) => {
  const unused: Record<string, string> = {
    SERVICES_HOST: '0.0.0.0',
    SERVICES_PORT: 'x',
    SERVICES_MAX_BODY_BYTES: '1',
    SERVICE_AUTH_MODE: 'none',
    SERVICE_API_KEY: '',
    SERVICE_API_KEY_FILE: '/nowhere',
    SERVICE_OIDC_JWKS_URL: 'x',
    SERVICE_AUTH_MOD: 'dev',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'x',
  }
  for (const [name, value] of Object.entries(unused)) {
    t.same(problems({ MIGRATE_DATABASE_URL: URI, [name]: value }), [], name)
  }
})

await t.test('a command is not stopped by a part of the file that it does not use', async (t) => {
  const [env, files] = yaml(
    'vector_store: postgres\nsources: {shop: {auth: {secret: "${SHOP_SECRET}"}}}\nllm_provider_config: {api_key_env: ' +
      'MODEL_KEY}\nhomeostasis: 5\n',
    { MODEL_KEY_FILE: '/nowhere' },
  )
  for (const use of [MIGRATE, REEMBED]) t.strictSame(loadCommand(env, use, files).file, { vector_store: 'postgres' })
})

await t.test('the settings that a command uses are checked as the server checks them', async (t) => {
  t.match(problems({ SERVICES_CONFIG_PATH: '/nowhere' }), [/^SERVICES_CONFIG_PATH: .* cannot be read/])
  t.match(problems({ DATABASE_URL: 'a', SERVICES_PG_DSN: 'b' }), [/set to different values/])
  t.match(
    problems({ MIGRATE_DATABASE_URL_FILE: '/nowhere' }),
    [/^MIGRATE_DATABASE_URL_FILE: found a path that cannot be read/],
  )
  t.match(
    problems({ MIGRATE_DATABSE_URL: URI, DATABASE_ULR: URI }),
    [/did you mean MIGRATE_DATABASE_URL\?$/, /did you mean DATABASE_URL\?$/],
  )
  t.match(problems(...yaml('vector_store: 5\nvector_stor_config: {}\nvector_store_config: {dsn: "${NOWHERE}"}')),
    [/NOWHERE is not set/, /did you mean "vector_store_config"/, /^vector_store: found/])
  t.match(problems(...yaml('vector_store: [')), [/gateway\.yaml: line 1/])
  const [env, files] = yaml('embedding_provider_config: {api_key_env: MODEL_KEY}', { MODEL_KEY_FILE: '/nowhere' })
  t.match(problems(env, files, REEMBED), [/^MODEL_KEY_FILE: found a path/])
  t.match(problems(env, files), [], 'the migration calls no model')
})

await t.test('only the migration uses MIGRATE_DATABASE_URL, and then no other URI', async (t) => {
  const env = { MIGRATE_DATABASE_URL: URI, DATABASE_URL: 'postgres://server@database/memory' }
  t.strictSame(loadCommand(env, MIGRATE).database, { migrateUrl: URI })
  t.strictSame(
    loadCommand({ ...env, SERVICES_PG_DSN: 'b', DATABASE_URL_FILE: '/nowhere' }, MIGRATE).database, { migrateUrl: URI },
  )
  t.strictSame(loadCommand(env, REEMBED).database, { url: env.DATABASE_URL, variable: 'DATABASE_URL' })
  t.strictSame(loadCommand({ DATABASE_URL: URI }, MIGRATE).database, { url: URI, variable: 'DATABASE_URL' })
  for (const name of ['MIGRATE_DATABASE_URL_FILE', 'MIGRATE_DATABASE_URI']) {
    t.same(problems({ ...env, [name]: '/nowhere' }, {}, REEMBED), [], name)
  }
})

await t.test('a secret of a command may come from a file, with the relative paths of the server', async (t) => {
  const { database, baseDirectory } = loadCommand(
    { MIGRATE_DATABASE_URL_FILE: 'secrets/uri', SERVICES_CONFIG_PATH: 'conf/gateway.yaml' }, MIGRATE,
    { '/work/secrets/uri': `${URI}\n`, '/work/conf/gateway.yaml': '' },
  )
  t.strictSame([database.migrateUrl, baseDirectory], [URI, '/work/conf'])
  t.strictSame(
    problems({ MIGRATE_DATABASE_URL: 'a', MIGRATE_DATABASE_URL_FILE: '/k' }),
    ['MIGRATE_DATABASE_URL and MIGRATE_DATABASE_URL_FILE are both set; set one of them'],
  )
})
