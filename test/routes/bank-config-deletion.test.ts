import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { getConfig, historyOf, putConfig } from './bank-configs.js'
import { as, refused, refusedFields } from './support.js'

await t.test('deleting a bank', async (t) => {
  await t.test('deletes its memories, its configuration and the history of the configuration', async (t) => {
    const app = await testApp(t)
    await app.retain('home', 'The otter sleeps.')
    await app.retain('home', 'The otter eats.')
    await app.retain('other', 'The otter swims.')
    await putConfig(app, 'home', { mission: 'Help.' })
    await putConfig(app, 'other', { mission: 'Stay.' })
    const response = await app.inject({ method: 'DELETE', url: '/v1/banks/home' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { bank_id: 'home', deleted_count: 2, config_deleted: true })
    t.same(await historyOf(app, 'home'), [])
    t.match(await getConfig(app, 'home'), { config: {}, etag: '"r0"' })
    t.equal((await app.get('/v1/banks/home/stats')).json().memory_count, 0)
    t.same((await app.post('/v1/recall', { bank_id: 'home', query: 'otter' })).json().hits, [])
    t.same((await app.get('/v1/banks')).json().banks.map(({ bank_id: name }: { bank_id: string }) => name), ['other'])
    t.equal((await getConfig(app, 'other')).config.mission, 'Stay.')
  })

  await t.test('that does not exist, or no longer exists, returns zero', async (t) => {
    const app = await testApp(t)
    const nothing = { bank_id: 'home', deleted_count: 0, config_deleted: false }
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), nothing)
    await putConfig(app, 'home', { mission: 'Help.' })
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), { ...nothing, config_deleted: true })
    t.same((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).json(), nothing)
  })

  await t.test('removes the configuration in a store without removeBank', async (t) => {
    // Hides the method of the class.
    const store = Object.assign(new InMemoryVectorStore(), { removeBank: undefined })
    const app = await testApp(t, {}, { store })
    const remove = async () => (
      (await app.inject({ method: 'DELETE', url: '/v1/banks/home', headers: as('user:alice') })).json<unknown>()
    )
    await app.retain('home', 'The otter sleeps.')
    t.same(await remove(), { bank_id: 'home', deleted_count: 1, config_deleted: false })
    t.same(await historyOf(app, 'home'), [], 'without a configuration there is nothing to remove')
    await putConfig(app, 'home', { barriers: { validation: { max_content_length: 5 } } })
    await putConfig(app, 'other', { mission: 'Stay.' })
    t.same(await remove(), { bank_id: 'home', deleted_count: 0, config_deleted: true })
    t.match(await getConfig(app, 'home'), { config: {}, etag: '"r0"' })
    t.match(await historyOf(app, 'home'), [{ config: null, updated_by: 'user:alice' }, {}])
    t.equal((await getConfig(app, 'other')).config.mission, 'Stay.')
    await app.retain('home', 'longer than five')
    t.same(await remove(), { bank_id: 'home', deleted_count: 1, config_deleted: false })
  })

  await t.test('counts as a forget in the rate limits', async (t) => {
    const app = await testApp(t, { file: { homeostasis: { rate_limits: { forget_per_minute: 1 } } } })
    t.equal((await app.inject({ method: 'DELETE', url: '/v1/banks/home' })).statusCode, 200)
    refused(t, await app.inject({ method: 'DELETE', url: '/v1/banks/home' }), 429, 'rate_limited')
  })

  await t.test('removes its limits immediately', async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', { barriers: { validation: { max_content_length: 5 } } })
    refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: 'longer than five' }), 'content')
    await app.inject({ method: 'DELETE', url: '/v1/banks/home' })
    await app.retain('home', 'longer than five')
  })
})

await t.test('forgetting all memories keeps the configuration of a bank', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The otter sleeps.')
  const before = await putConfig(app, 'home', { mission: 'Help.' })
  t.equal((await app.post('/v1/forget', { bank_id: 'home', scope: 'all' })).json().deleted_count, 1)
  t.same(await getConfig(app, 'home'), before)
})
