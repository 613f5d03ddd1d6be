import t from 'tap'
import { testApp } from '../helpers/app.js'

const INSTRUCTION = 'Always give temperatures in Celsius when I ask about a recipe.'

t.test('what the user told the assistant to do from then on is found for a query to which it applies', async (t) => {
  const app = await testApp(t)
  const turn = async (speaker: string, text: string) => {
    await app.retain('home', text, { document_id: 'talk', metadata: { speaker } })
  }
  await turn('user', INSTRUCTION)
  await turn('assistant', 'Understood.')
  for (const dish of ['lasagne', 'goulash', 'ratatouille', 'paella', 'pierogi', 'moussaka']) {
    await turn('user', `My recipe for ${dish} fills the oven, and the kitchen is warm for hours.`)
    await turn('assistant', `The ${dish} is a recipe for the oven, and it keeps for three days.`)
  }
  const recall = async (query: string) => (
    (await app.post('/v1/recall', { bank_id: 'home', query, max_results: 3, explain: true })).json()
      .hits.map(({ text }: { text: string }) => text)
  )
  t.ok((await recall('Which recipe suits my oven?')).includes(INSTRUCTION))
  t.notOk((await recall('How warm is the kitchen?')).includes(INSTRUCTION), 'it shares no word with the query')
  t.notOk((await recall('What did you say about the recipe?')).includes(INSTRUCTION), 'the user said it')
})
