import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { askConfig, getConfig, patchConfig, putConfig } from './bank-configs.js'
import { refusedFields } from './support.js'

interface Overtaking extends TestApp {
  /** Makes another file take effect. */
  overtake (file: FileConfig): Promise<void>
}

async function start (t: Test, file: FileConfig): Promise<Overtaking> {
  let written = file
  const app = await testApp(t, { file }, {}, { reloadConfig: () => testConfig({ file: written }) })
  return {
    ...app,
    overtake: async (next) => {
      written = next
      const response = await app.post('/v1/admin/reload', {})
      if (response.statusCode !== 200) throw new Error(`the reload answered ${response.statusCode}: ${response.body}`)
    },
  }
}

const tokens = (value: number): FileConfig => ({ homeostasis: { recall_max_tokens: value } })
const PATH = 'homeostasis.recall_max_tokens'

await t.test('a patch of another value is accepted while a stored value exceeds a tightened limit', async (t) => {
  const app = await start(t, tokens(500))
  await putConfig(app, 'home', { ...tokens(400), mission: 'One.' })
  await app.overtake(tokens(300))
  const { config, effective } = await patchConfig(app, 'home', {
    mission: 'Two.', homeostasis: { quotas: { retain_per_day: 5 } },
  })
  t.same(config, { homeostasis: { recall_max_tokens: 400, quotas: { retain_per_day: 5 } }, mission: 'Two.' })
  t.equal(effective.homeostasis?.recall_max_tokens, 300, 'the limit of the file holds meanwhile')

  await t.test('a patch of that value must be within the limit, or nothing of the patch is applied', async (t) => {
    for (const value of [301, 399, 401]) {
      refusedFields(t, await askConfig(app, 'PATCH', 'home', { ...tokens(value), mission: 'Three.' }), PATH)
    }
    t.same((await getConfig(app, 'home')).config, config)
    for (const value of [300, 200]) {
      t.same((await patchConfig(app, 'home', tokens(value))).config.homeostasis?.recall_max_tokens, value)
    }
  })

  await t.test('the exception ends once the value is within the limit', async (t) => {
    refusedFields(t, await askConfig(app, 'PATCH', 'home', tokens(400)), PATH)
  })
})

await t.test('a PUT must be within the limits as a whole', async (t) => {
  const app = await start(t, tokens(500))
  const { config } = await putConfig(app, 'home', tokens(400))
  await app.overtake(tokens(300))
  refusedFields(t, await askConfig(app, 'PUT', 'home', { ...config, mission: 'Two.' }), PATH)
})

await t.test('a patch of another value is accepted after the profile of the bank has left the file', async (t) => {
  const app = await start(t, { profiles: { support: { mission: 'Support.' } } })
  await putConfig(app, 'home', { profile: 'support' })
  await app.overtake({})
  t.same((await patchConfig(app, 'home', { description: 'A bank.' })).config, {
    profile: 'support', description: 'A bank.',
  })
  refusedFields(t, await askConfig(app, 'PATCH', 'home', { profile: 'another' }), 'profile')
  t.same((await patchConfig(app, 'home', { profile: null })).config, { description: 'A bank.' })
})

await t.test('a patch of another value is accepted while grants are no longer allowed', async (t) => {
  const control = { enabled: true, default_policy: 'open' as const }
  const app = await start(t, { access_control: control })
  const access = [{ principal: 'user:bob', permissions: ['read'] }]
  await putConfig(app, 'home', { access })
  await app.overtake({ access_control: { ...control, bank_grants: false } })
  t.same((await patchConfig(app, 'home', { mission: 'One.' })).config, { access, mission: 'One.' })
  refusedFields(
    t, await askConfig(app, 'PATCH', 'home', { access: [...access, { principal: 'user:eve', permissions: ['*'] }] }),
    'access',
  )
  t.same((await patchConfig(app, 'home', { access: null })).config, { mission: 'One.' })
})

await t.test('a patch that removes what kept a loose profile within the limit is 400', async (t) => {
  const app = await start(t, { ...tokens(500), profiles: { loose: tokens(900) } })
  const { config } = await putConfig(app, 'home', { profile: 'loose', ...tokens(400) })
  refusedFields(t, await askConfig(app, 'PATCH', 'home', { homeostasis: { recall_max_tokens: null } }), 'profile')
  t.same((await getConfig(app, 'home')).config, config)
})

await t.test('an unknown profile and values beyond the limits are reported together', async (t) => {
  const app = await start(t, { ...tokens(5), reflect: { max_evidence: 7 } })
  for (const method of ['PUT', 'PATCH'] as const) {
    refusedFields(
      t, await askConfig(app, method, 'home', { profile: 'nothing', ...tokens(6), reflect: { max_evidence: 8 } }), PATH,
      'reflect.max_evidence', 'profile',
    )
  }
})

await t.test('many patches at the same time are all applied, also if reads and writes take time', async (t) => {
  const store = new InMemoryVectorStore()
  const { bankConfigs } = store
  const [read, write] = [bankConfigs.read.bind(bankConfigs), bankConfigs.write.bind(bankConfigs)]
  bankConfigs.read = async (banks) => {
    await setImmediate()
    return await read(banks)
  }
  bankConfigs.write = async (bank, change) => {
    await setImmediate()
    return await write(bank, change)
  }
  const app = await testApp(t, {}, { store })
  const limits = ['recall_max_tokens', 'reflect_max_tokens', 'retain_max_content_bytes']
  const patches = [
    ...Array.from({ length: 30 }, (_, index) => ({ description: `Patch ${index}.` })),
    ...limits.map((name) => ({ homeostasis: { [name]: 100 } })),
  ]
  const answers = await Promise.all(patches.map(async (patch) => await askConfig(app, 'PATCH', 'home', patch)))
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200])
  const { config } = await getConfig(app, 'home')
  t.same(config.homeostasis, Object.fromEntries(limits.map((name) => [name, 100])))
})
