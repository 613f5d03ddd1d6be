import t from 'tap'
import { testApp } from '../helpers/app.js'

const REFERENCE = '2026-03-10T19:00:00Z'

t.test('a question about today finds the fact that answers it before the events of the day', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'Lena prefers the window seat.')
  for (const [hour, text] of [
    'Lena practised piano.', 'Tom ordered new shoes.', 'Lena called from school.',
  ].entries()) {
    await app.retain('home', text, { occurred_at: `2026-03-10T1${hour}:00:00Z` })
  }
  const recall = async (query: string) => (
    (await app.post('/v1/recall', { bank_id: 'home', query, reference_time: REFERENCE })).json()
      .hits.map(({ text }: { text: string }) => text)
  )
  t.equal((await recall('Which seat should I book for Lena today?'))[0], 'Lena prefers the window seat.')
  t.equal((await recall('What did Tom do today?'))[0], 'Tom ordered new shoes.')
})
