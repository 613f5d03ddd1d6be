import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { KNOWN_NAMES } from '../../../lib/config/variables.js'
import { DATABASE_KEYS } from '../../../scripts/database.js'
import { load, loadCommand } from './load-with.js'

interface Service {
  image: string
  environment: Record<string, string>
  secrets: string[]
  depends_on?: Record<string, unknown>
  command?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}

const folder = new URL('../../../examples/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const { services, secrets, volumes } = parse(read('compose.yaml')) as {
  services: Record<string, Service>, secrets: Record<string, { file: string }>, volumes: object
}

/** What `echo` in the first lines of the file puts there. */
const files: Record<string, string> = {
  '/etc/memory-gateway.yaml': read('postgres.yaml'),
  '/run/secrets/migrate_database_url': 'postgres://memory_owner:a@database:5432/memory\n',
  '/run/secrets/database_url': 'postgres://memory_server:b@database:5432/memory\n',
  '/run/secrets/api_key': 'k\n',
  '/run/secrets/admin_token': 'a\n',
}

t.test('the variables of the services in compose.yaml are known and can be loaded', async (t) => {
  const image = {
    SERVICES_HOST: /SERVICES_HOST=(\S+)/.exec(readFileSync(new URL('../Containerfile', folder), 'utf8'))?.[1],
  }
  const gateway = load({ ...image, ...services['gateway']!.environment }, { ...files, '/.dockerenv': '' })
  const migrate = loadCommand(
    { ...image, ...services['migrate']!.environment }, { keys: DATABASE_KEYS, migrates: true }, files,
  )
  for (const [name, url] of Object.entries({ gateway: gateway.database.url, migrate: migrate.database.migrateUrl })) {
    t.same(Object.keys(services[name]!.environment).filter((variable) => !KNOWN_NAMES.includes(variable)), [], name)
    t.equal(new URL(url ?? '').hostname, 'database', 'the host is the service')
  }
  for (const { file } of [gateway, migrate]) {
    t.match(file, { vector_store: 'postgres', vector_store_config: { bootstrap_schema: false } })
  }
  t.match(gateway.auth, { mode: 'api_key', apiKey: 'k' })
  t.notOk(gateway.warnings.some((warning) => /loopback|ADMIN_TOKEN/.test(warning)))
})

t.test('the containers of compose.yaml have no rights that they do not use', async (t) => {
  const hardened = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }
  for (const name of ['migrate', 'gateway']) t.match(services[name], hardened, name)
})

t.test('everything that compose.yaml refers to exists', async (t) => {
  t.same(Object.keys(volumes), ['database'])
  for (const [name, { secrets: used, environment, depends_on: after = {} }] of Object.entries(services)) {
    for (const secret of used) t.ok(secret in secrets, `${name}: ${secret}`)
    const named = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'))
      .map((value) => value.slice('/run/secrets/'.length))
    for (const secret of named) t.ok(used.includes(secret), `${name}: ${secret}`)
    for (const other of Object.keys(after)) t.ok(other in services, `${name} after ${other}`)
  }
  t.match(read('compose-roles.sh'), '/run/secrets/server_password')
  for (const [name, { file }] of Object.entries(secrets)) {
    t.equal(file, `./secrets/${name}`)
    t.match(
      read('compose.yaml'), new RegExp(`# .*(for name in [a-z_ ]*\\b${name}\\b|> secrets/${name}$)`, 'm'),
      'its making is shown',
    )
  }
})
