import t from 'tap'
import type { BankConfiguration } from '../../lib/config/schema.js'
import { testApp } from '../helpers/app.js'
import { askConfig, getConfig, putConfig } from './bank-configs.js'
import { refusedFields } from './support.js'

const many = (count: number): Record<string, number> => Object.fromEntries(Array.from(
  { length: count }, (_, index) => [`k${index}`, index],
))
const blocking = (blockedKeys: string[]): BankConfiguration => ({
  barriers: { metadata: { blocked_keys: blockedKeys } },
})
/** With the default, such a body is refused before anybody asks what it is. */
const MORE = { array_elements: 20_000 }
const KEYS = 'barriers.metadata.blocked_keys'

await t.test('metadata of more than 10,000 keys is 400, and stores nothing', async (t) => {
  const { post, get } = await testApp(t, { file: { bounds: MORE } })
  const refusal = await post('/v1/retain', { bank_id: 'home', content: 'x', metadata: many(10_001) })
  refusedFields(t, refusal, 'metadata')
  t.match(refusal.json(), { errors: [{ message: /10000 keys/ }] })
  t.match((await get('/v1/banks/home')).json(), { memory_count: 0 })
})

await t.test('metadata of more than 10,000 keys is 400 also when every key is blocked', async (t) => {
  const { post } = await testApp(t, {
    file: {
      bounds: MORE, barriers: { metadata: { blocked_keys: Array.from({ length: 10_001 }, (_, index) => `K${index}`) } },
    },
  })
  refusedFields(t, await post('/v1/retain', { bank_id: 'home', content: 'x', metadata: many(10_001) }), 'metadata')
  const { redactions } = (await post('/v1/retain', {
    bank_id: 'home', content: 'x', metadata: many(10_000),
  })).json<{ redactions: string[] }>()
  t.equal(redactions.length, 10_000)
})

await t.test('the error names the item of a batch that has too many keys', async (t) => {
  const { post } = await testApp(t, { file: { bounds: MORE } })
  const response = await post('/v1/retain/batch', {
    bank_id: 'home', items: [{ content: 'One.' }, { content: 'Two.', metadata: many(10_001) }],
  })
  t.match(response.body, /metadata/)
  t.match(response.body, /10000 keys/)
})

await t.test('a bank blocks up to 1000 keys of up to 256 characters each, and no more', async (t) => {
  const app = await testApp(t)
  for (const method of ['PUT', 'PATCH'] as const) {
    refusedFields(t, await askConfig(app, method, 'home', blocking(Object.keys(many(1001)))), KEYS)
    refusedFields(t, await askConfig(app, method, 'home', blocking(['good', 'x'.repeat(257)])), `${KEYS}[1]`)
    refusedFields(t, await askConfig(app, method, 'home', blocking([''])), `${KEYS}[0]`)
  }
  t.same((await getConfig(app, 'home')).config, {})
  for (const keys of [Object.keys(many(1000)), ['x'.repeat(256)]]) {
    t.same((await putConfig(app, 'home', blocking(keys))).config, blocking(keys))
  }
})

await t.test('the thousand keys of a bank are added to the thousand of the file', async (t) => {
  const ofFile = Object.keys(many(1000))
  const app = await testApp(t, { file: blocking(ofFile) })
  const ofBank = ofFile.map((key) => `own-${key}`)
  const { effective } = await putConfig(app, 'home', blocking(ofBank))
  t.same(effective.barriers?.metadata?.blocked_keys?.toSorted(), [...ofFile, ...ofBank].sort())
  const { redactions } = (await app.post('/v1/retain', {
    bank_id: 'home', content: 'x', metadata: { K999: 1, 'OWN-k999': 2, free: 3 },
  })).json<{ redactions: string[] }>()
  t.same(redactions.sort(), ['metadata.K999', 'metadata.OWN-k999'])
})

await t.test('a bank has up to 200 grants of its own, and no more', async (t) => {
  const app = await testApp(t, { file: { access_control: { enabled: true } } })
  const grants = (count: number): BankConfiguration => ({
    access: Array.from({ length: count }, (_, index) => ({ principal: `user:u${index}`, permissions: ['read'] })),
  })
  for (const method of ['PUT', 'PATCH'] as const) {
    refusedFields(t, await askConfig(app, method, 'home', grants(201)), 'access')
  }
  t.same((await getConfig(app, 'home')).config, {})
  t.equal((await putConfig(app, 'home', grants(200))).config.access?.length, 200)
})

await t.test('a configuration has up to 32 KiB as JSON', async (t) => {
  const app = await testApp(t)
  const ofSize = (bytes: number) => {
    const frame = JSON.stringify(blocking([''])).length
    const full = Array.from({ length: Math.floor((bytes - frame) / 203) }, (_, index) => (
      String(index).padStart(200, '0')
    ))
    const rest = bytes - JSON.stringify(blocking([...full, ''])).length
    return blocking([...full, 'x'.repeat(rest)])
  }
  t.equal(JSON.stringify(ofSize(32_768)).length, 32_768)
  t.equal((await askConfig(app, 'PUT', 'home', ofSize(32_768))).statusCode, 200)
  const refusal = await askConfig(app, 'PUT', 'home', ofSize(32_769))
  t.equal(refusal.statusCode, 400)
  t.match(refusal.body, /32768 bytes/)
})
