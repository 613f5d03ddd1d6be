import t from 'tap'
import { QueueFullError } from '../../../lib/models/workers/worker-queue.js'
import { rejection, setUp } from '../../fixtures/transformers-package/scripted.js'

t.test('a text that is cached or being computed is not computed again', async (t) => {
  const { embed, computed } = setUp(t)
  t.strictSame(await Promise.all([embed('a', 'bb', ' a '), embed('bb')]), [
    [[0, 1, 1], [1, 2, 1], [0, 1, 1]], [[1, 2, 1]],
  ])
  t.strictSame(await embed('bb', 'ccc', 'a'), [[1, 2, 1], [2, 3, 1], [0, 1, 1]])
  t.equal(computed(), 3)
})

t.test('a caller that modifies a vector does not affect others', async (t) => {
  const { provider, embed } = setUp(t)
  const [first, second] = await provider.embed(['a', 'a'], {})
  first!.fill(9)
  t.strictSame([...second!], [0, 1, 1])
  t.strictSame(await embed('a'), [[0, 1, 1]])
})

t.test('the cache holds as many vectors as allowed, the most recently used ones', async (t) => {
  const { embed, computed } = setUp(t, { cacheSize: 2 })
  await embed('a', 'b')
  await embed('a')
  await embed('c')
  t.strictSame(await embed('a', 'c'), [[0, 1, 1], [2, 1, 1]])
  t.equal(computed(), 3)
  await embed('b')
  t.equal(computed(), 4)
})

t.test('without a cache every text is computed', async (t) => {
  const { embed, computed } = setUp(t, { cacheSize: 0 })
  await embed('a')
  await embed('a')
  t.equal(computed(), 2)
})

t.test('queries are computed before all waiting documents', async (t) => {
  const { provider, embed, release } = setUp(t)
  const order: string[] = []
  const watched = async (text: string, purpose: 'query' | 'document') => {
    await provider.embed([text], { purpose })
    order.push(text)
  }
  await embed('warm')
  const all = [
    watched('hold', 'document'), watched('document 1', 'document'), watched('document 2', 'document'),
    watched('query 1', 'query'), watched('query 2', 'query'),
  ]
  release()
  await Promise.all(all)
  t.strictSame(order, ['hold', 'query 1', 'query 2', 'document 1', 'document 2'])
})

t.test('with its own thread a query is answered while a document occupies the other thread', async (t) => {
  const { provider, embed, release, loads } = setUp(t, { queryThread: true })
  await embed('warm')
  const documents = embed('hold', 'behind')
  await provider.embed(['query'], { purpose: 'query' })
  t.strictSame(
    provider.status(), { running: 1, waiting: 1, cache: { hits: 0, misses: 4 } }, 'both documents are unanswered',
  )
  release()
  t.equal((await documents).length, 2)
  t.equal(loads(), 2, 'each thread has a model')
})

t.test('a waiting document that is requested as a query is computed as a query', async (t) => {
  const { provider, embed, release, computed } = setUp(t)
  await embed('warm')
  const order: string[] = []
  const watched = async (text: string, purpose: 'query' | 'document') => {
    await provider.embed([text], { purpose })
    order.push(`${purpose} ${text}`)
  }
  const all = [
    watched('hold', 'document'), watched('one', 'document'), watched('two', 'document'), watched('two', 'query'),
  ]
  release()
  await Promise.all(all)
  t.strictSame(order, ['document hold', 'document two', 'query two', 'document one'])
  t.equal(computed(), 4)
})

t.test('the number of waiting texts is bounded, and a call is accepted as a whole or not at all', async (t) => {
  const { provider, embed, release, computed } = setUp(t, { maxWaiting: 2 })
  await embed('warm')
  const held = embed('hold')
  const waiting = embed('a', 'b')
  await t.rejects(provider.embed(['c'], {}), QueueFullError)
  t.equal(
    await rejection(provider.embed(['c', 'a'], {})),
    'it takes no more: 2 wait, 1 would come and 2 may wait (max_queue)',
  )
  const same = embed('b')
  const query = provider.embed(['query'], { purpose: 'query' })
  await t.rejects(
    provider.embed(['q', 'r'], { purpose: 'query' }), QueueFullError, 'queries have their own queue of the same size',
  )
  release()
  await Promise.all([held, waiting, query])
  t.strictSame(await same, [[4, 1, 1]], 'a text that waits already takes no further place')
  t.equal(computed(), 5)
  await embed('c')
})

t.test('an aborted call rejects at once, and texts without another caller are not computed', async (t) => {
  const { provider, embed, release, computed } = setUp(t)
  await embed('warm')
  const controller = new AbortController()
  const { signal } = controller
  const left = [provider.embed(['hold', 'a', 'b'], { signal }), provider.embed(['c'], { signal, purpose: 'query' })]
  const stays = embed('b')
  controller.abort(new Error('enough'))
  for (const call of left) t.equal(await rejection(call), 'enough')
  t.equal(await rejection(provider.embed(['d'], { signal })), 'enough')
  release()
  t.strictSame(await stays, [[2, 1, 1]])
  t.equal(computed(), 3)
  t.strictSame(await embed('hold'), [[1, 4, 1]], 'a computation in progress is completed')
  t.strictSame(await embed('a'), [[3, 1, 1]])
})

t.test('a signal that is aborted after the end has no effect', async (t) => {
  const { provider } = setUp(t)
  const controller = new AbortController()
  await provider.embed(['a'], { signal: controller.signal })
  controller.abort()
  await t.rejects(provider.embed(['a'], { signal: controller.signal }), { name: 'AbortError' } as unknown as Error)
})
