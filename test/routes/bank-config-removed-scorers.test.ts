import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { getConfig, putConfig } from './bank-configs.js'

await t.test('a stored configuration with a scorer that was removed still works, without that scorer', async (t) => {
  const store = new InMemoryVectorStore()
  const retrieval = { scorers: { tells_time: 0.4, phrase: 0.7 }, diversity: 0.3 }
  const document = JSON.stringify({ mission: 'Of an earlier version.', retrieval })
  await store.bankConfigs.write({ tenantId: null, bankId: 'home' }, { document, updatedAt: 0, updatedBy: null })
  const app = await testApp(t, {}, { store })

  const { config, effective } = await getConfig(app, 'home')
  const cleaned = { mission: 'Of an earlier version.', retrieval: { scorers: { phrase: 0.7 }, diversity: 0.3 } }
  t.strictSame(config, cleaned)
  t.match(effective, { retrieval: { scorers: { phrase: 0.7 }, diversity: 0.3 } })
  t.notOk(Object.hasOwn(effective.retrieval?.scorers ?? {}, 'tells_time'))
  t.strictSame((await putConfig(app, 'home', config)).config, cleaned, 'what is read can be stored again')

  const retained = await app.inject({
    method: 'POST', url: '/v1/retain', payload: { bank_id: 'home', content: 'The kettle is blue.' },
  })
  t.equal(retained.statusCode, 200)
  const recalled = await app.inject({
    method: 'POST', url: '/v1/recall', payload: { bank_id: 'home', query: 'kettle' },
  })
  t.equal(recalled.statusCode, 200)
  t.match(recalled.json(), { hits: [{ text: 'The kettle is blue.' }] })
})
