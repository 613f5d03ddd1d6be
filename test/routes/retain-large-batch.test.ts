import t from 'tap'
import { testApp } from '../helpers/app.js'

/** Together more characters than a batch has whose terms are kept as maps. */
const ITEMS = 22
const LENGTH = 49_000

const places = ['harbour', 'café', 'lighthouse', '渡し船', 'market']

function content (index: number): string {
  const sentence = `The ferry ${index} leaves the ${places[index % places.length]} at nine, said Ada${index}. `
  return `${sentence.repeat(Math.floor(LENGTH / sentence.length))}What comes next?`
}

for (const store of ['in_memory', 'pglite'] as const) {
  await t.test(`the memories of a large batch are found as if they were retained one by one: ${store}`, async (t) => {
    const file = store === 'pglite' ? { vector_store: store, vector_store_config: { data_dir: t.testdir({}) } } : {}
    const { post, retain, app } = await testApp(t, { file })
    const contents = Array.from({ length: ITEMS }, (_, index) => content(index))
    const batch = await post('/v1/retain/batch', {
      bank_id: 'together', items: contents.map((text) => ({ content: text })),
    })
    t.equal(batch.statusCode, 200)
    for (const text of contents) await retain('single', text)
    await app.memory.idle()
    for (const query of ['ferry', 'café', '渡し船', 'Ada4 lighthouse', 'what comes next']) {
      const found = async (bankId: string) => {
        const body = { bank_id: bankId, query, max_results: ITEMS, max_tokens: 1_000_000 }
        const { hits } = (await post('/v1/recall', body)).json<{ hits: Array<{ text: string, score: number }> }>()
        const found = hits.map(({ text, score }) => ({ index: contents.indexOf(text), score }))
        return found.sort((a, b) => a.index - b.index)
      }
      const [together, single] = [await found('together'), await found('single')]
      t.ok(together.some(({ score }) => score > 0), query)
      t.same(together, single, query)
    }
  })
}
