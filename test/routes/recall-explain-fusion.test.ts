import t from 'tap'
import { testApp } from '../helpers/app.js'
import { explain } from './explaining.js'
import { hitsOf } from './support.js'

await t.test('a memory that is found by its time alone has the rank and the sum of the recall', async (t) => {
  const app = await testApp(t)
  const best = await app.retain('bank', 'Rowed over the lake in May.', { occurred_at: '2025-05-05T12:00:00Z' })
  const timed = await app.retain('bank', 'Lena sang.', { occurred_at: '2025-05-05T10:00:00Z' })
  const fusionOf = async (id: string) => (await explain(app, id, 'What did we do on 5 May 2025?')).stages.fusion
  t.match(await fusionOf(best), { rank: 1 })
  t.strictSame(await fusionOf(timed), { rank: 2, score: 0 })
})

await t.test('the sum of the strategies is the one by which the recall ranks notes', async (t) => {
  const app = await testApp(t)
  for (let at = 0; at < 12; at++) {
    const text = at % 3 === 1 ? `A cup stands on shelf ${at}.` : `Green tea is in tin ${at}.`
    await app.retain('bank', text, { document_id: at < 9 ? 'kitchen' : 'cellar' })
  }
  const request = { bank_id: 'bank', query: 'green tea', explain: true, max_results: 20 }
  const hits = hitsOf(await app.post('/v1/recall', request))
  t.equal(hits.length, 12)
  for (const { memory_id: id, scores } of hits) {
    const { fusion } = (await explain(app, id, 'green tea')).stages
    t.equal(fusion!.score, scores!.contributions!['lexical'])
  }
})
