import { readFileSync } from 'node:fs'
import t from 'tap'
import { configurationReference, envExample } from '../../../scripts/config-reference.js'
import { FileSchema } from '../../../lib/config/schema.js'
import { type Variable, VARIABLES } from '../../../lib/config/variables.js'
import { embeddingProviders, languageModels, rerankers } from '../../../lib/models/registry.js'
import { vectorStores } from '../../../lib/stores/registry.js'
import { PROVIDER_SETTINGS } from '../../../lib/config/providers/schemas.js'
import { load, loadYaml } from './load-with.js'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const HINT = 'run: npx tsx scripts/write-config-docs.ts'

await t.test('the committed files are those that the generator writes', async (t) => {
  t.equal(read('docs/configuration.md'), configurationReference(), HINT)
  t.equal(read('.env.example'), envExample(), HINT)
})

await t.test('.env.example has every variable once, with its default, and sets none', async (t) => {
  const lines = read('.env.example').split('\n')
  t.same(lines.filter((line) => line !== '' && !line.startsWith('#')), [], 'nothing is set')
  const shown = lines.map((line) => /^#([A-Z_]+)=(.*)$/.exec(line)).filter((match) => match !== null)
    .map(([, name, value]) => [name, value])
  t.same(shown, VARIABLES.map(({ name, ...rest }: Variable) => [name, rest.default ?? '']))
})

await t.test('every default in the table is the default of the loader', async (t) => {
  const defaults = Object.fromEntries(VARIABLES.flatMap(
    (variable: Variable) => variable.default === undefined ? [] : [[variable.name, variable.default]],
  ))
  const unset = load({})
  const set = load(defaults)
  t.same({ ...set, warnings: [] }, { ...unset, warnings: [] })
})

await t.test('the example of the reference is a valid configuration', async (t) => {
  const yaml = /```yaml\n(.*?)```/s.exec(read('docs/configuration.md'))?.[1] ?? ''
  const env = {
    TICKETS_WEBHOOK_SECRET: 's',
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: 'k',
    SERVICE_ADMIN_TOKEN: 'a',
    SERVICES_HOST: '0.0.0.0',
  }
  const { file, warnings } = loadYaml(yaml, env)
  t.same(warnings, [])
  t.match(file, { sources: { tickets: { auth: { type: 'hmac', secret: 's' } } }, access_control: { enabled: true } })
})

await t.test('the reference names every registered provider', async (t) => {
  const lines = read('docs/configuration.md').split('\n')
  for (const { key, registered } of [vectorStores, languageModels, embeddingProviders, rerankers]) {
    const meaning = lines.find((line) => line.startsWith(`| \`${key}\` |`))?.split(', or a class')[0] ?? ''
    const named = [...meaning.matchAll(/[:,] `(\w+)`/g)].map(([, name]) => name)
    t.same(named.sort(), Object.keys(registered).sort(), key)
  }
})

await t.test('the reference has every variable and every key of the file', async (t) => {
  const text = read('docs/configuration.md')
  for (const { name } of VARIABLES) t.ok(text.includes(`| \`${name}\` |`), name)
  for (const key of Object.keys(FileSchema.properties)) t.ok(text.includes(`| \`${key}\` |`), key)
  for (const key of [
    'banks.<id>.access[].permissions', 'sources.<id>.auth.timestamp_header', 'retrieval.bm25.k1',
    'homeostasis.rate_limits.global_per_minute',
  ]) {
    t.ok(text.includes(`| \`${key}\` |`), key)
  }
  for (const { key, name, schema } of PROVIDER_SETTINGS) {
    const table = text.slice(text.indexOf(`### ${key}: ${name}\n`)).split('\n### ')[0]!
    for (const setting of Object.keys(schema.properties ?? {})) {
      t.ok(table.includes(`| \`${key}_config.${setting}\` |`), `${name} ${setting}`)
    }
  }
  t.notMatch(text, /undefined|\[object/)
  t.notMatch(text, /\| +\|$/m, 'a key without a meaning')
})
