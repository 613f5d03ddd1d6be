import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { KNOWN_NAMES } from '../../../lib/config/variables.js'
import { load } from './load-with.js'

interface Service {
  image: string
  environment: Record<string, string>
  secrets: string[]
  depends_on?: Record<string, unknown>
  command?: string[]
}

const folder = new URL('../../../examples/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const { services, secrets, volumes } = parse(read('compose.yaml')) as { services: Record<string, Service>, secrets: Record<string, { file: string }>, volumes: object }

/** What `echo` in the first lines of the file puts there. */
const files: Record<string, string> = {
  '/etc/memory-gateway.yaml': read('postgres.yaml'),
  '/run/secrets/migrate_database_url': 'postgres://memory_owner:a@database:5432/memory\n',
  '/run/secrets/database_url': 'postgres://memory_server:b@database:5432/memory\n',
  '/run/secrets/api_key': 'k\n',
}

t.test('the services of compose.yaml are given variables that are known and load', async (t) => {
  for (const name of ['migrate', 'gateway']) {
    const { environment } = services[name]!
    t.same(Object.keys(environment).filter((variable) => !KNOWN_NAMES.includes(variable)), [], name)
    const { file, database } = load(environment, files)
    t.match(file, { vector_store: 'postgres', vector_store_config: { bootstrap_schema: false } })
    const url = name === 'migrate' ? database.migrateUrl : database.url
    t.equal(new URL(url ?? '').hostname, 'database', 'the host is the service')
  }
  t.match(load(services['gateway']!.environment, files).auth, { mode: 'api_key', apiKey: 'k' })
})

t.test('what compose.yaml speaks of is there', async (t) => {
  t.same(Object.keys(volumes), ['database'])
  for (const [name, { secrets: used, environment, depends_on: after = {} }] of Object.entries(services)) {
    for (const secret of used) t.ok(secret in secrets, `${name}: ${secret}`)
    const named = Object.values(environment).filter((value) => value.startsWith('/run/secrets/')).map((value) => value.slice('/run/secrets/'.length))
    for (const secret of named) t.ok(used.includes(secret), `${name}: ${secret}`)
    for (const other of Object.keys(after)) t.ok(other in services, `${name} after ${other}`)
  }
  t.match(read('compose-roles.sh'), '/run/secrets/server_password')
  for (const [name, { file }] of Object.entries(secrets)) {
    t.equal(file, `./secrets/${name}`)
    t.match(read('compose.yaml'), new RegExp(`# .*(for name in [a-z_ ]*\\b${name}\\b|> secrets/${name}$)`, 'm'), 'its making is shown')
  }
})
