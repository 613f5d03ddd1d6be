import t from 'tap'
import { rejection, setUp } from '../../fixtures/transformers-package/scripted.js'

t.test('waiting texts are computed in batches, of queries or of documents', async (t) => {
  const { provider, embed, release } = setUp(t, { batchSize: 3 })
  await embed('warm')
  const held = embed('hold')
  const documents = embed('1', '2', '3', '4')
  const queries = provider.embed(['q', 'r'], { purpose: 'query' })
  release()
  await held
  t.strictSame((await queries).map(([,, together]) => together), [2, 2])
  t.strictSame((await documents).map(([,, together]) => together), [3, 3, 3, 1])
})

t.test('a text that the model rejects fails alone', async (t) => {
  const { provider, embed, release } = setUp(t, { batchSize: 4 })
  await embed('warm')
  const held = embed('hold')
  const calls = ['a', 'fail', 'b'].map(async (text) => await provider.embed([text], {}))
  release()
  await held
  t.strictSame((await Promise.allSettled(calls)).map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled'])
  t.equal(await rejection(calls[1]!), 'it: not this one')
  t.equal(await rejection(embed('fail')), 'it: not this one', 'a failure is not cached')
})

t.test('a lost thread is replaced, and its text is tried once more', async (t) => {
  const { embed, loads } = setUp(t)
  t.strictSame(await embed('die once'), [[0, 8, 1]])
  t.equal(loads(), 2)
  t.equal(await rejection(embed('die')), 'it lost its thread')
  t.equal(loads(), 3, 'two threads were lost over it')
  t.equal(await rejection(embed('throw')), 'it lost its thread')
  t.strictSame(await embed('a'), [[1, 1, 1]])
})

t.test('a text that ends its worker thread does not fail other texts', async (t) => {
  const { provider, embed, release } = setUp(t, { batchSize: 4, threads: 2 })
  await embed('warm')
  const held = [embed('hold'), embed('hold ')]
  const calls = ['a', 'die', 'b', 'c'].map(async (text) => await provider.embed([text], {}))
  release()
  await Promise.all(held)
  t.strictSame((await Promise.allSettled(calls)).map(({ status }) => status), [
    'fulfilled', 'rejected', 'fulfilled', 'fulfilled',
  ])
})

t.test('a thread that is lost while it is idle is replaced', async (t) => {
  const { embed } = setUp(t)
  t.equal((await embed('die later'))[0]![1], 9)
  t.equal((await embed('a'))[0]![1], 1)
})

t.test('a thread that fails while it is idle does not end the process', async (t) => {
  const { embed } = setUp(t)
  t.equal((await embed('throw later'))[0]![1], 11)
  t.equal((await embed('a'))[0]![1], 1)
})

t.test('a computation that takes too long ends with its thread', async (t) => {
  const { embed, loads } = setUp(t, { timeoutMs: 500 })
  t.equal(await rejection(embed('spin')), 'it did not answer within 500 ms')
  t.strictSame(await embed('a'), [[0, 1, 1]])
  t.equal(loads(), 2)
})

t.test('a model that does not finish loading fails the calls that wait for it', async (t) => {
  const warnings: string[] = []
  const { embed } = setUp(t, {
    loadTimeoutMs: 100, script: { hangs: true }, warn: (message) => { warnings.push(message) },
  })
  t.equal(await rejection(embed('a')), 'it did not load its model within 100 ms')
  t.strictSame(warnings, ['it did not load its model within 100 ms'])
})

t.test('a model that cannot be loaded is reported at the start, and loaded again for every text', async (t) => {
  const warnings: string[] = []
  const { embed, loads } = setUp(t, { script: { failingLoads: 2 }, warn: (message) => { warnings.push(message) } })
  t.equal(await rejection(embed('a')), 'it: no such model')
  t.strictSame(warnings, ['it cannot load its model yet: no such model'])
  t.strictSame(await embed('a'), [[0, 1, 1]])
  t.equal(loads(), 3)
})

t.test('a missing engine is reported', async (t) => {
  const { embed } = setUp(t, { engine: new URL('./no-engine.mjs', import.meta.url).href })
  t.match(await rejection(embed('a')), /^it: Cannot find module/)
})

t.test('several threads compute at the same time', async (t) => {
  const { embed, release, loads } = setUp(t, { threads: 2 })
  const held = embed('hold')
  t.strictSame(await embed('a'), [[0, 1, 1]])
  release()
  t.strictSame(await held, [[1, 4, 1]])
  t.equal(loads(), 2)
})

t.test('a message that an engine posts by itself has no effect', async (t) => {
  const { embed } = setUp(t)
  t.strictSame(await embed('noise'), [[0, 5, 1]])
})

t.test('closing rejects texts in progress and waiting, and no more are accepted', async (t) => {
  const { provider, embed } = setUp(t)
  await embed('warm')
  const calls = [embed('spin'), embed('a', 'b'), provider.embed(['c'], { purpose: 'query' })]
  const settled = Promise.all(calls.map(rejection))
  await provider.close()
  t.strictSame(await settled, ['it was closed', 'it was closed', 'it was closed'])
  t.equal(await rejection(embed('a')), 'it is closed')
  await provider.close()
})

t.test('closing while the model is being loaded ends the loading', async (t) => {
  const { provider, embed } = setUp(t, { script: { hangs: true }, loadTimeoutMs: 600_000 })
  const waiting = rejection(embed('a'))
  await provider.close()
  t.equal(await waiting, 'it was closed')
})

t.test('a waiting job can be removed from the queue once', async (t) => {
  const { queue, embed, release } = setUp(t)
  await embed('warm')
  const [held, dropped] = queue.add(['hold', 'dropped'], false)
  t.equal(queue.drop(dropped!), true)
  t.equal(queue.drop(dropped!), false)
  t.equal(queue.drop(held!), false, 'it runs')
  queue.promote(held!)
  release()
  await held!.done
})
