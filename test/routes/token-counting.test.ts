import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { NewMemory, VectorStore } from '../../lib/stores/vector-store.js'
import { countTokens } from '../../lib/text/tokens.js'
import { testApp } from '../helpers/app.js'

/** The in-memory store, and what it was given. */
class WatchedStore extends InMemoryVectorStore {
  readonly given: NewMemory[] = []

  override async insert (
    ...[bank, memories, options]: Parameters<VectorStore['insert']>
  ): ReturnType<VectorStore['insert']> {
    this.given.push(...memories)
    return await super.insert(bank, memories, options)
  }
}

await t.test('a retain counts no tokens; a recall counts those of its hits, once', async (t) => {
  const store = new WatchedStore()
  const app = await testApp(t, {}, { store })
  await app.retain('b', 'Alice drinks green tea.')
  await app.retain('b', 'It rains in Lyon.')
  const known = () => store.given.map(({ tokens }) => tokens.isKnown)
  t.same(known(), [false, false])
  const recall = async () => (
    (await app.post('/v1/recall', {
      bank_id: 'b', query: 'green tea',
    })).json<{ usage: { tokens: number } }>().usage.tokens
  )
  t.equal(await recall(), countTokens('Alice drinks green tea.'))
  t.same(known(), [true, false])
  t.equal(await recall(), countTokens('Alice drinks green tea.'))
})

await t.test('statistics of a bank whose tokens were never counted do not block the event loop', async (t) => {
  const app = await testApp(t, {}, { store: new InMemoryVectorStore() })
  const contents = Array.from({ length: 600 }, (_, index) => (
    `${index} ${'The quick brown fox jumps over the lazy dog. '.repeat(60)}`.trim()
  ))
  t.equal(
    (await app.post('/v1/retain/batch', { bank_id: 'b', items: contents.map((content) => ({ content })) })).statusCode,
    200,
  )
  let turns = 0
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const { token_count: tokens } = (await app.get('/v1/banks/b/stats')).json<{ token_count: number }>()
  clearImmediate(next)
  t.equal(tokens, contents.reduce((sum, content) => sum + countTokens(content), 0))
  t.ok(turns > 3, String(turns))
})

await t.test('memories that are stored while the statistics count are in the next ones', async (t) => {
  const app = await testApp(t, {}, { store: new InMemoryVectorStore() })
  const contents = Array.from({ length: 100 }, (_, index) => (
    `${index} ${'The quick brown fox jumps over the lazy dog. '.repeat(60)}`.trim()
  ))
  await app.post('/v1/retain/batch', { bank_id: 'b', items: contents.map((content) => ({ content })) })
  const statistics = app.get('/v1/banks/b/stats')
  const [
    { memory_count: count, token_count: tokens },
  ] = (await Promise.all([statistics, app.retain('b', 'One more.')]).then(([answer]) => [
    answer.json<{ memory_count: number, token_count: number }>(),
  ])) as [{ memory_count: number, token_count: number }]
  const sum = contents.reduce((sum, content) => sum + countTokens(content), 0)
  t.equal(tokens, count === 100 ? sum : sum + countTokens('One more.'))
})
