import t from 'tap'
import { testApp } from '../helpers/app.js'
import { getConfig, historyOf, putConfig, resetConfig } from './bank-configs.js'
import { exportOf, HEADER, importInto, ndjson } from './ndjson.js'
import { as, refused, refusedFields } from './support.js'

const CONFIG = { mission: 'Help.', homeostasis: { recall_max_tokens: 500 } }

await t.test('an export contains the bank\'s own configuration, if it has one', async (t) => {
  const app = await testApp(t, { file: { homeostasis: { reflect_max_tokens: 5 } } })
  await app.retain('home', 'The otter sleeps.')
  t.notOk('config' in (await exportOf(app, 'home'))[0])
  await putConfig(app, 'home', CONFIG)
  t.same((await exportOf(app, 'home'))[0]['config'], CONFIG)
  await resetConfig(app, 'home')
  t.notOk('config' in (await exportOf(app, 'home'))[0])
})

await t.test('an import applies the configuration only on request', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The otter sleeps.')
  await putConfig(app, 'home', CONFIG)
  const exported = (await app.get('/v1/banks/home/export')).body
  for (const bank of ['copy', 'copy?config=ignore']) {
    t.equal((await importInto(app, bank, exported)).statusCode, 200)
    t.match(await getConfig(app, 'copy'), { config: {}, etag: '"r0"' })
  }
  t.same((await importInto(app, 'copy?config=apply', exported, as('user:alice'))).json(), {
    imported: 0, skipped: 1, overwritten: 0,
  })
  t.match(await getConfig(app, 'copy'), {
    config: CONFIG, effective: CONFIG, updated_by: 'user:alice', updated_at: '2026-01-15T10:00:00.000Z',
  })
  t.equal((await historyOf(app, 'copy')).length, 1)
  refusedFields(t, await importInto(app, 'copy?config=yes', exported), 'config')
})

await t.test('an import of an export without a configuration leaves the existing one unchanged', async (t) => {
  const app = await testApp(t)
  const before = await putConfig(app, 'home', CONFIG)
  for (const header of [HEADER, { ...HEADER, config: null }]) {
    t.equal((await importInto(app, 'home?config=apply', ndjson(header, { text: 'One.' }))).statusCode, 200)
    t.same(await getConfig(app, 'home'), before)
  }
})

await t.test('an import without memories applies the configuration immediately', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'longer than five')
  const response = await importInto(app, 'home?config=apply', ndjson({
    ...HEADER, config: { barriers: { validation: { max_content_length: '5' } }, mission: null },
  }))
  t.same(response.json(), { imported: 0, skipped: 0, overwritten: 0 })
  t.same((await getConfig(app, 'home')).config, { barriers: { validation: { max_content_length: 5 } } })
  refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: 'longer than five, too' }), 'content')
})

await t.test('an import with a configuration that is not allowed for the bank stores nothing', async (t) => {
  const app = await testApp(t, { file: { homeostasis: { recall_max_tokens: 5 } } })
  const before = await putConfig(app, 'home', { mission: 'Stay.' })
  const rows: Array<[config: unknown, field: string]> = [
    [{ homeostasis: { recall_max_tokens: 6 } }, 'line 1: config.homeostasis.recall_max_tokens'],
    [{ bankz: 1 }, 'line 1: config.bankz'],
    [{ mission: 5 }, 'line 1: config.mission'],
    [{ profile: 'nothing' }, 'line 1: config.profile'],
    [{ access: [{ principal: 'user:bob', permissions: ['read'] }] }, 'line 1: config.access'],
    ['mission', 'line 1: config'],
    [[], 'line 1: config'],
    [
      {
        barriers: {
          metadata: { blocked_keys: Array.from({ length: 200 }, (_, index) => `${index}`.padStart(200, 'k')) },
        },
      },
      'line 1: config',
    ],
  ]
  for (const [config, field] of rows) {
    const lines = ndjson({ ...HEADER, config }, { text: 'One.' })
    refusedFields(t, await importInto(app, 'home?config=apply', lines), field)
    t.same(await getConfig(app, 'home'), before)
    t.equal((await app.get('/v1/banks/home/stats')).json().memory_count, 0)
  }
  t.equal(
    (await importInto(app, 'home', ndjson({ ...HEADER, config: rows[0]![0] }, { text: 'One.' }))).statusCode, 200,
    'it is ignored when it is not requested',
  )
})

await t.test('a refused memory leaves the configuration unchanged', async (t) => {
  const app = await testApp(t)
  const before = await putConfig(app, 'home', { mission: 'Stay.' })
  refused(
    t, await importInto(app, 'home?config=apply', ndjson({ ...HEADER, config: CONFIG }, { text: '' })), 400,
    'invalid_request',
  )
  t.same(await getConfig(app, 'home'), before)
})

await t.test('an import checks its memories under the configuration that it applies', async (t) => {
  const app = await testApp(t, { file: { barriers: { validation: { max_content_length: 40_000 } } } })
  const limit = (max: number) => ({ barriers: { validation: { max_content_length: max } } })
  const otter = { text: 'The otter sleeps.', metadata: { mood: 'calm', secret: 1 } }
  const into = async (bank: string, config: object | undefined, ...lines: unknown[]) => (
    await importInto(app, `${bank}?config=apply`, ndjson({ ...HEADER, config }, ...lines))
  )

  await putConfig(app, 'home', limit(5))
  refusedFields(t, await into('home', undefined, otter), 'line 2: text')
  t.equal((await into('home', { barriers: { metadata: { blocked_keys: ['secret'] } } }, otter)).statusCode, 200)
  t.same((await exportOf(app, 'home'))[1]?.['metadata'], { mood: 'calm' })

  const before = await getConfig(app, 'home')
  refusedFields(t, await into('home', limit(5), otter), 'line 2: text')
  t.same(await getConfig(app, 'home'), before, 'a refused memory leaves the configuration')

  await putConfig(app, 'long', limit(5))
  const escaped = `{"text":"${'\\ud83d\\ude00'.repeat(20_000)}","metadata":{}}${' '.repeat(340_000)}`
  t.equal((await into('long', {}, escaped)).statusCode, 200, 'the length of a line follows the configuration')

  await putConfig(app, 'busy', { homeostasis: { rate_limits: { import_per_minute: 1 } } })
  t.equal((await into('busy', {}, otter, { text: 'Two.' })).statusCode, 400, 'rates are those in force before')
})

await t.test('an import with an idempotency key is applied once', async (t) => {
  const app = await testApp(t)
  const lines = ndjson({ ...HEADER, config: CONFIG }, { text: 'One.' })
  const first = await importInto(app, 'home?config=apply', lines, { 'idempotency-key': 'k' })
  await resetConfig(app, 'home')
  const second = await importInto(app, 'home?config=apply', lines, { 'idempotency-key': 'k' })
  t.same(second.json(), first.json())
  t.same((await getConfig(app, 'home')).config, {})
  refused(t, await importInto(app, 'home', lines, { 'idempotency-key': 'k' }), 409, 'idempotency_key_reused')
})
