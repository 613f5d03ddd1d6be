import t from 'tap'
import { SteeredEmbeddings, SteeredTime } from '../fixtures/steered-embeddings.js'
import { testApp } from '../helpers/app.js'

t.test('on a durable store no memory without vectors is lost over a restart', async (t) => {
  const file = { vector_store: 'pglite', vector_store_config: { data_dir: t.testdir({}) } }
  const start = async () => {
    const embeddings = new SteeredEmbeddings()
    const time = new SteeredTime()
    return { embeddings, time, ...await testApp(t, { file }, { embeddings, schedule: time.schedule, random: () => 1 }) }
  }
  const first = await start()
  first.embeddings.failure = new Error('down')
  await first.retain('home', 'Alice saw her doctor.')
  await first.retain('away', 'The surgeon called.')
  await first.time.pausing()
  await first.app.close()

  const second = await start()
  await second.app.memory.idle()
  for (const [bank, text] of [['home', 'Alice saw her doctor.'], ['away', 'The surgeon called.']]) {
    const { hits } = (await second.post('/v1/recall', {
      bank_id: bank, query: 'physician',
    })).json<{ hits: Array<{ text: string }> }>()
    t.strictSame(hits.map((hit) => hit.text), [text])
  }
  t.strictSame(second.embeddings.calls.flat().sort(), ['Alice saw her doctor.', 'The surgeon called.'])
})
