/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import t from 'tap'
import { loadConfig } from '../../../lib/config/load.js'
import { loadYaml } from './load-with.js'
import { ConfigurationError } from '../../../lib/config/problems.js'

await t.test('every problem of environment and file is in one error, a line each', async (t) => {
  const env = {
    SERVICES_CONFIG_PATH: 'c.yaml',
    SERVICES_PORT: 'eighty',
    SERVICES_HOST: '0.0.0.0',
    SERVICE_API_KEY: '',
    SERVICE_PORT: '1',
    SERVICE_ADMIN_TOKEN_FILE: '/gone',
    DATABASE_URL: 'postgres://a',
    SERVICES_PG_DSN: 'postgres://b',
  }
  const cwd = t.testdir({
    'c.yaml': 'vector_store: ${GONE}\nvector_store: x\naccess_control: {enabled: 1}\nhomeostasis: {recall: 1}\n',
  })
  const error = t.throws(() => loadConfig(env, { cwd }))
  t.type(error, ConfigurationError)
  if (!(error instanceof ConfigurationError)) return
  const starts = [
    'SERVICE_ADMIN_TOKEN_FILE: found a path', 'SERVICES_PORT: found "eighty"', 'SERVICE_API_KEY is set but empty',
    'DATABASE_URL and SERVICES_PG_DSN', 'SERVICES_HOST: found "0.0.0.0"', 'SERVICE_PORT is not a known variable',
    'vector_store: ${GONE} cannot', 'vector_store: the key is given twice', 'access_control.enabled: found 1',
    'homeostasis.recall is not a known key',
  ]
  t.equal(error.problems.length, starts.length)
  for (const start of starts) t.ok(error.problems.some((problem) => problem.startsWith(start)), start)
  t.equal(
    error.message, `The configuration has 10 problems:\n${error.problems.map((problem) => `- ${problem}`).join('\n')}`,
  )
  t.equal(error.message.split('\n').length, 11)
  t.equal(error.name, 'ConfigurationError')
})

await t.test('the configuration is frozen at every level', async (t) => {
  const config = loadYaml('vector_store_config: {a: [{b: 1}], __proto__: {c: {}}}\nbanks: {x: {access: [{principal: ' +
    'p, permissions: [read]}]}}\naccess_grants: []')
  const open: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Object.isFrozen(value)) open.push(path)
    for (const key of Object.keys(value)) walk(Object.getOwnPropertyDescriptor(value, key)?.value, `${path}.${key}`)
  }
  walk(config, 'config')
  t.same(open, [])
  t.throws(() => { config.port = 1 }, TypeError)
  t.throws(() => { config.warnings.push('x') }, TypeError)
})

await t.test('loading changes no environment variable and keeps no state', async (t) => {
  const env = Object.freeze({ SERVICES_PORT: '9000', SERVICE_ADMIN_TOKEN: 'a' })
  const cwd = t.testdir({})
  t.same(loadConfig(env, { cwd }), loadConfig(env, { cwd }))
  t.equal(loadConfig({}, { cwd }).port, 8080)
})

await t.test('only the given environment counts', async (t) => {
  const before = process.env['SERVICES_PORT']
  process.env['SERVICES_PORT'] = 'nonsense'
  t.teardown(() => {
    if (before === undefined) delete process.env['SERVICES_PORT']
    else process.env['SERVICES_PORT'] = before
  })
  t.equal(loadConfig({}).port, 8080)
  t.equal(loadConfig({}).baseDirectory, process.cwd())
})

await t.test('a program may pass an object as the file, which is checked alike and not modified', async (t) => {
  const file = {
    access_control: { enabled: true, default_policy: 'deny' as const }, homeostasis: { recall_max_tokens: 100 },
  }
  const config = loadConfig({ SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'key' }, { file, cwd: '/work' })
  t.same(config.file, file)
  t.equal(config.settings.access.enabled, true)
  t.equal(config.baseDirectory, '/work')
  t.ok(Object.isFrozen(config.file.homeostasis))
  t.notOk(Object.isFrozen(file) || Object.isFrozen(file.homeostasis))
  t.equal(
    loadConfig({}, {
      file: { vector_store_config: { path: '${HOME}' }, vector_store: './own.mjs:Store' },
    }).file.vector_store_config?.['path'],
    '${HOME}',
  )
  t.throws(
    () => loadConfig({}, { file: JSON.parse('{"vector_stor": "pglite"}') }),
    { message: /vector_stor is not a known key; did you mean "vector_store"\?/ },
  )
  t.throws(
    () => loadConfig({ SERVICES_CONFIG_PATH: 'c.yaml' }, { file: {} }),
    { message: /SERVICES_CONFIG_PATH is set, but the program passes the configuration itself/ },
  )
})
