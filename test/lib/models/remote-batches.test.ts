import t from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { answering, correct, silent } from '../../helpers/model-server.js'
import { numbered, openEmbeddings, vectorsOf } from './remote-support.js'

t.test('many texts are sent in batches and come back in order', async (t) => {
  const { server, provider } = await openEmbeddings(t, { batch_size: 3 })
  const texts = numbered(10)
  // The first batch is answered last.
  server.next(async (request, response) => {
    await server.received(4)
    await correct(request, response)
  })
  t.strictSame(await provider.embed(texts, {}), vectorsOf(texts))
  t.strictSame(server.batches.map(({ length }) => length).toSorted(), [1, 3, 3, 3])
  t.strictSame(server.batches.flat().toSorted(), texts.toSorted())
})

t.test('a text that occurs twice is requested once', async (t) => {
  const { server, provider } = await openEmbeddings(t)
  t.strictSame(await provider.embed(['one', 'two', 'one'], {}), vectorsOf(['one', 'two', 'one']))
  t.strictSame(server.batches, [['one', 'two']])
})

t.test('requests in progress never exceed the limit, over all calls', async (t) => {
  const { server, provider } = await openEmbeddings(t, { batch_size: 1, max_concurrency: 3 })
  server.gather(3)
  const calls = ['a', 'b', 'c'].map(async (name) => await provider.embed(numbered(7).map((text) => name + text), {}))
  await Promise.all(calls)
  t.equal(server.requests.length, 21)
  t.equal(server.mostAtOnce, 3)
})

t.test('a failed batch ends the other batches of its call', async (t) => {
  const { server, provider } = await openEmbeddings(t, { batch_size: 1, max_concurrency: 2 })
  server.next(silent, answering(400, ''))
  await t.rejects(provider.embed(numbered(9), {}), new ModelCallError(
    'rejected', 'The embedding endpoint answered 400', { status: 400 },
  ))
  t.equal(await server.requests[0]!.over, 'left')
  t.equal(server.requests.length, 2)
})

t.test('a call is refused when the queue is full', async (t) => {
  const { server, provider } = await openEmbeddings(t, { max_concurrency: 1, max_waiting: 1 })
  const release = server.hold()
  const held = [provider.embed(['one'], {}), provider.embed(['two'], {})]
  await t.rejects(provider.embed(['three'], {}), new ModelCallError(
    'overloaded', 'All 1 calls to the embedding endpoint are under way and 1 wait', { retryAfterMs: 1000 },
  ))
  release()
  t.strictSame((await Promise.all(held)).flat(), vectorsOf(['one', 'two']))
})

t.test('a large call does not fill the queue with its own batches', async (t) => {
  const { provider } = await openEmbeddings(t, { batch_size: 1, max_concurrency: 2, max_waiting: 0 })
  const texts = numbered(20)
  t.strictSame(await provider.embed(texts, {}), vectorsOf(texts))
})

t.test('hundreds of requests of one call cause no warning', async (t) => {
  const warnings: string[] = []
  const keep = ({ message }: Error) => { warnings.push(message) }
  process.on('warning', keep)
  t.teardown(() => { process.off('warning', keep) })
  const { server, provider } = await openEmbeddings(t, { batch_size: 1, max_concurrency: 100 })
  server.gather(100)
  await provider.embed(numbered(200), { signal: new AbortController().signal })
  t.equal(server.mostAtOnce, 100)
  t.strictSame(warnings, [])
})

t.test('a query is answered while documents wait', async (t) => {
  const { server, provider } = await openEmbeddings(t, { max_concurrency: 1 })
  const release = server.hold()
  const documents = ['one', 'two', 'three'].map(async (text) => await provider.embed([text], {}))
  await server.received(1)
  server.next(correct)
  t.strictSame(await provider.embed(['who?'], { purpose: 'query' }), vectorsOf(['who?']))
  t.strictSame(server.batches, [['one'], ['who?']])
  release()
  await Promise.all(documents)
})

t.test('a query has a shorter time limit than a document', async (t) => {
  const { server, provider } = await openEmbeddings(t, { query_timeout_ms: 50 }, { timer: () => 0 })
  server.always(silent)
  await t.rejects(provider.embed(['who?'], { purpose: 'query' }), new ModelCallError(
    'timeout', 'The embedding endpoint did not answer within 50 ms',
  ))
})

t.test('a call that is already aborted sends no request', async (t) => {
  const { server, provider } = await openEmbeddings(t)
  await t.rejects(provider.embed(['one'], { signal: AbortSignal.abort(new Error('gone')) }), new Error('gone'))
  t.equal(server.requests.length, 0)
})

t.test('cache', async (t) => {
  t.test('an embedded text is not requested again, except for another purpose', async (t) => {
    const { server, provider } = await openEmbeddings(t)
    await provider.embed(['one', 'two'], {})
    t.strictSame(await provider.embed(['two', 'three', 'one'], {}), vectorsOf(['two', 'three', 'one']))
    await provider.embed(['one'], { purpose: 'query' })
    await provider.embed(['one'], { purpose: 'query' })
    t.strictSame(server.batches, [['one', 'two'], ['three'], ['one']])
  })

  t.test('the most recent vectors are kept', async (t) => {
    const { server, provider } = await openEmbeddings(t, { cache_size: 2 })
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await provider.embed([text], {})
    t.strictSame(server.batches.flat(), ['one', 'two', 'three', 'two'])
  })

  t.test('a call with more texts than the cache holds is answered completely', async (t) => {
    const { provider } = await openEmbeddings(t, { cache_size: 1 })
    for (let round = 0; round < 2; round++) t.strictSame(await provider.embed(numbered(5), {}), vectorsOf(numbered(5)))
  })

  t.test('the cache can be switched off', async (t) => {
    const { server, provider } = await openEmbeddings(t, { cache_size: 0 })
    for (let round = 0; round < 2; round++) await provider.embed(['one'], {})
    t.equal(server.requests.length, 2)
  })

  t.test('a caller that modifies its vector does not modify those of others', async (t) => {
    const { provider } = await openEmbeddings(t)
    for (let round = 0; round < 3; round++) {
      const [first, second] = await provider.embed(['one', 'one'], {})
      t.strictSame(first, vectorsOf(['one'])[0])
      first!.fill(0)
      t.strictSame(second, vectorsOf(['one'])[0])
    }
  })

  t.test('a failure is not cached', async (t) => {
    const { server, provider } = await openEmbeddings(t, { max_retries: 0 })
    server.next(answering(500, ''))
    await t.rejects(provider.embed(['one'], {}), ModelCallError)
    t.strictSame(await provider.embed(['one'], {}), vectorsOf(['one']))
  })
})
