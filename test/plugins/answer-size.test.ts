import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused } from '../routes/support.js'

const MIB = 1_048_576
const all = { bank_id: 'big', query: 'tea', max_results: 1000 }

await t.test('an answer beyond bounds.answer_bytes is refused before any of it is sent', async (t) => {
  const app = await testApp(t, { file: { bounds: { answer_bytes: MIB } } })
  const text = 'lorem '.repeat(8000)
  const items = Array.from({ length: 24 }, (_, index) => ({ content: `Tea ${index} caf\u00e9 ${text}` }))
  t.equal((await app.post('/v1/retain/batch', { bank_id: 'big', items })).statusCode, 200)
  for (const response of [await app.post('/v1/recall', all), await app.get('/v1/banks/big/memories?limit=200')]) {
    refused(t, response, 413, 'answer_too_large', { detail: /bounds\.answer_bytes.*max_results, max_tokens or limit/ })
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
  t.equal((await app.post('/v1/recall', { ...all, max_results: 10 })).statusCode, 200)
  t.equal((await app.get('/v1/banks/big/memories?limit=10')).statusCode, 200)
  t.equal((await app.get('/v1/banks/big/export')).statusCode, 200, 'exports are not counted')
})

await t.test('the bytes of an answer count, not its characters', async (t) => {
  const app = await testApp(t, { file: { bounds: { answer_bytes: MIB } } })
  for (const [bankId, unit] of [['plain', 'a'], ['controls', '\u0001'], ['wide', '日']] as const) {
    const items = Array.from({ length: 8 }, (_, index) => ({ content: `${index}${unit.repeat(49_000)}.` }))
    t.equal((await app.post('/v1/retain/batch', { bank_id: bankId, items })).statusCode, 200)
  }
  t.equal((await app.get('/v1/banks/plain/memories')).statusCode, 200)
  refused(t, await app.get('/v1/banks/controls/memories'), 413, 'answer_too_large')
  refused(t, await app.get('/v1/banks/wide/memories'), 413, 'answer_too_large')
})

await t.test('the answer of a write is sent, however long it is, because the work is done', async (t) => {
  const app = await testApp(t, { file: { bounds: { answer_bytes: 1024 } } })
  const items = Array.from({ length: 100 }, (_, index) => ({ content: `Memory ${index}` }))
  const response = await app.post('/v1/retain/batch', { bank_id: 'b', items })
  t.equal(response.statusCode, 200)
  t.ok(response.body.length > 1024)
  t.equal((await app.get('/metrics')).statusCode, 200, 'metrics are no answer to a caller')
})
