import t from 'tap'
import { findUnknownVariables, KNOWN_NAMES } from '../../../lib/config/variables.js'

function unknown (...names: string[]) {
  return findUnknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))
}

await t.test('a nearly correct name is a problem that names the intended one', async (t) => {
  const misses: Record<string, string> = {
    SERVICE_PORT: 'SERVICES_PORT',
    SERVICE_HOST: 'SERVICES_HOST',
    SERVICES_POXT: 'SERVICES_PORT',
    SERVICES_HOTS: 'SERVICES_HOST',
    SERVICE_AUTHMODE: 'SERVICE_AUTH_MODE',
    SERVICES_AUTH_MODE: 'SERVICE_AUTH_MODE',
    SERVICE_APIKEY: 'SERVICE_API_KEY',
    SERVICE_API_KEYS: 'SERVICE_API_KEY',
    SERVICE_API_KEY_FIEL: 'SERVICE_API_KEY_FILE',
    SERVICES_ADMIN_TOKEN_FILE: 'SERVICE_ADMIN_TOKEN_FILE',
    SERVICES_PG_DNS: 'SERVICES_PG_DSN',
    DATABSE_URL: 'DATABASE_URL',
    DATABASE_URI: 'DATABASE_URL',
    DATABASE_ULR: 'DATABASE_URL',
    DATABASEURL: 'DATABASE_URL',
    DATBASE_URI: 'DATABASE_URL',
    DATABASE_URL_FLIE: 'DATABASE_URL_FILE',
    MIGRATE_DATABSE_URL: 'MIGRATE_DATABASE_URL',
    MIGRATE_DATABASE_URI: 'MIGRATE_DATABASE_URL',
  }
  for (const [name, meant] of Object.entries(misses)) {
    t.same(unknown(name), { problems: [`${name} is not a known variable; did you mean ${meant}?`], warnings: [] }, name)
  }
})

await t.test('a name with three wrong letters is only a warning, and only with our prefixes', async (t) => {
  for (const name of ['SERVICES_HOSTNAM', 'SERVICE_NAME', 'SERVICES_VERSION', 'SERVICE_']) {
    t.same(unknown(name), { problems: [], warnings: [`${name} is not a known variable and is ignored`] }, name)
  }
})

await t.test('variables of other programs are ignored', async (t) => {
  const others = [
    'PATH', 'HOME', 'HOST', 'NODE_ENV', 'PGHOST', 'DATABASE', 'DATABASE_HOST', 'DATABASE_NAME', 'DATABASE_PORT',
    'DATABASE_SSL', 'DATABASE_UID', 'DATABASE_USER', 'DATABASE_PASSWORD', 'DATABASE_DSN', 'DATABASE_URL_2',
    'DATALAKE_URL',
    'DATABUS_URL', 'DATADOG_URL', 'DATA_URL', 'DATA_DIR', 'MIGRATE', 'MIGRATE_ON_START', 'DEVICES_HOST', 'SERVICED',
    'SERVER_PORT',
    'constructor', '__proto__',
  ]
  t.same(unknown(...others), { problems: [], warnings: [] })
})

await t.test('known names and unset ones are not unknown', async (t) => {
  t.same(unknown(...KNOWN_NAMES), { problems: [], warnings: [] })
  t.same(findUnknownVariables({ SERVICE_PORT: undefined }), { problems: [], warnings: [] })
})

await t.test('an odd name is shown on one line', async (t) => {
  t.same(unknown('SERVICE_X\nY').warnings, ['SERVICE_X\\u{a}Y is not a known variable and is ignored'])
})
