import t from 'tap'
import { testApp } from '../helpers/app.js'

const LONG = 'The keeper of the island writes the weather, the tide, the height of the waves, the colour of the sky, ' +
  'passing ships, broken tiles, borrowed tools, the price of paraffin, visitors from the mainland, letters, parcels, ' +
  'sick sheep, lost lambs, new fences, painted doors, blocked gutters, empty barrels, and every heron into the ledger.'
const SHORT = 'A heron stood near the pier.'
const QUERY = 'Which heron is in a ledger?'

t.test('length lowers a paragraph less in a bank that asks nothing than in a conversation', async (t) => {
  const app = await testApp(t)
  const first = async (bank: string, end: string, speaker?: string) => {
    const retain = async (text: string) => {
      await app.retain(bank, text, speaker === undefined ? {} : { metadata: { speaker } })
    }
    await retain(LONG)
    for (const thing of ['oil', 'rope', 'salt', 'coal', 'flour', 'nails', 'paint', 'wool', 'soap', 'glass', 'tea']) {
      await retain(`Is ${thing} on the list of the ledger${end}`)
    }
    await retain(SHORT)
    const { hits } = (await app.post('/v1/recall', { bank_id: bank, query: QUERY, max_results: 1 })).json()
    return hits[0].text
  }
  t.equal(await first('notes', '.'), LONG)
  t.equal(await first('own-notes', '.', 'user'), LONG, 'a user may be the author of notes')
  t.equal(await first('questions', '?'), SHORT)
  t.equal(await first('answers', '.', 'assistant'), SHORT)
})
