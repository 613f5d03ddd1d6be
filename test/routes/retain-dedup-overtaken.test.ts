import t, { type Test } from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { dedupConfig, NEAR_DUPLICATE, retain, TEXT, textsOf } from './retain-dedup-support.js'

/** A store in which other writes come between the search of a retain and its write. */
class OvertakingStore extends InMemoryVectorStore {
  readonly overtaking: Array<() => Promise<unknown>> = []

  override async search (
    ...request: Parameters<InMemoryVectorStore['search']>
  ): ReturnType<InMemoryVectorStore['search']> {
    const found = await super.search(...request)
    await this.overtaking.shift()?.()
    return found
  }
}

async function setUp (t: Test) {
  const store = new OvertakingStore()
  const home = await testApp(t, { file: dedupConfig('update') }, { store })
  const id = await home.retain('home', TEXT)
  const overwrite = (text: string) => async () => {
    const lines = [{ format: 'memory-gateway-export', version: 1 }, { memory_id: id, text }]
    const response = await home.app.inject({
      method: 'POST',
      url: '/v1/banks/home/import?on_conflict=overwrite',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    })
    if (response.statusCode !== 200) throw new Error(response.body)
  }
  return { store, home, id, overwrite }
}

t.test('update: a memory that an import overwrites after the comparison is not replaced', async (t) => {
  const { store, home, id, overwrite } = await setUp(t)
  store.overtaking.push(overwrite('The alarm code of the office is seven'))
  const answer = await retain(home, NEAR_DUPLICATE)
  t.strictSame([answer.stored, answer.updated, answer.near_duplicate], [true, undefined, undefined])
  t.not(answer.memory_id, id)
  t.strictSame(await textsOf(home), [NEAR_DUPLICATE, 'The alarm code of the office is seven'].sort())
})

t.test('update: when the memory is overwritten by another near-duplicate, that one is replaced', async (t) => {
  const { store, home, id, overwrite } = await setUp(t)
  store.overtaking.push(overwrite(`${NEAR_DUPLICATE} again`))
  t.match(await retain(home, NEAR_DUPLICATE), { stored: true, updated: true, memory_id: id })
  t.strictSame(await textsOf(home), [NEAR_DUPLICATE])
})

t.test('update: a memory that is forgotten after the comparison does not return under its id', async (t) => {
  const { store, home, id } = await setUp(t)
  store.overtaking.push(async () => await home.post('/v1/forget', { bank_id: 'home', memory_ids: [id] }))
  const answer = await retain(home, NEAR_DUPLICATE)
  t.strictSame([answer.stored, answer.updated], [true, undefined])
  t.not(answer.memory_id, id)
  t.strictSame(await textsOf(home), [NEAR_DUPLICATE])
})

t.test('update: beside a memory that is overwritten again and again the content is stored as ' +
  'a new memory', async (t) => {
  const { store, home, id, overwrite } = await setUp(t)
  for (const word of ['again', 'daily', 'early', 'gladly', 'slowly']) {
    store.overtaking.push(overwrite(`${NEAR_DUPLICATE} ${word}`))
  }
  const answer = await retain(home, NEAR_DUPLICATE)
  t.strictSame([answer.stored, answer.updated, answer.near_duplicate?.memory_id], [true, undefined, id])
  t.equal(store.overtaking.length, 1, 'three plans replace, and one does not')
  t.strictSame(await textsOf(home), [NEAR_DUPLICATE, `${NEAR_DUPLICATE} gladly`])
})
