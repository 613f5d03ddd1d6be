import t, { type Test } from 'tap'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { makeRemoteReranker } from '../../../lib/models/remote/reranker.js'
import type { Reranker } from '../../../lib/models/reranker.js'
import { answering, sendJson, silent, startModelServer, type ModelServer } from '../../helpers/model-server.js'

const QUERY = 'spare key stone'
const TEXTS = ['Nothing of it.', 'The spare key lies under a stone.', 'A key.']
const SCORES = [0, 3, 1]

async function open (
  t: Test, config: Record<string, unknown> = {},
): Promise<{ server: ModelServer, reranker: Reranker }> {
  const server = await startModelServer(t)
  return {
    server,
    reranker: makeRemoteReranker(
      { base_url: server.url, model: 'test', timeout_ms: 60_000, ...config }, { baseDirectory: '/' },
    ),
  }
}

t.test('the scores are in the order of the texts', async (t) => {
  const { server, reranker } = await open(t, {
    api_key: 'secret', query_params: { version: '1' }, headers: { 'x-org': 'mine' },
  })
  t.strictSame(await reranker.rerank(QUERY, TEXTS, {}), SCORES)
  const [request] = server.requests
  t.equal(request!.path, '/v1/rerank')
  t.strictSame(request!.query, { version: '1' })
  t.match(request!.headers, { authorization: 'Bearer secret', 'x-org': 'mine', 'content-type': 'application/json' })
  t.strictSame(request!.body, { model: 'test', query: QUERY, documents: TEXTS })
})

t.test('the style of Text Embeddings Inference has no model and calls the documents texts', async (t) => {
  const server = await startModelServer(t)
  const reranker = makeRemoteReranker({ base_url: server.url, style: 'tei' }, { baseDirectory: '/' })
  t.strictSame(await reranker.rerank(QUERY, TEXTS, {}), SCORES)
  t.strictSame(server.requests[0]!.body, { query: QUERY, texts: TEXTS })
})

t.test('a request to Text Embeddings Inference has at most 32 texts', async (t) => {
  const server = await startModelServer(t)
  const reranker = makeRemoteReranker({ base_url: server.url, style: 'tei' }, { baseDirectory: '/' })
  const texts = Array.from({ length: 100 }, (_, index) => TEXTS[index % 3]!)
  t.strictSame(await reranker.rerank(QUERY, texts, {}), texts.map((_, index) => SCORES[index % 3]))
  t.strictSame(server.requests.map(({ body }) => (body['texts'] as string[]).length).sort(), [32, 32, 32, 4])
})

t.test('results may be under `data`, as with Voyage, and may repeat the texts', async (t) => {
  const { server, reranker } = await open(t)
  server.next((_request, response) => {
    sendJson(response, {
      object: 'list',
      data: SCORES.map((score, index) => ({ index, relevance_score: score, document: TEXTS[index] })).toReversed(),
    })
  })
  t.strictSame(await reranker.rerank(QUERY, TEXTS, {}), SCORES)
})

t.test('scores may be negative', async (t) => {
  const { server, reranker } = await open(t)
  server.next(answering(200, '[{"index":1,"score":-2.5},{"index":0,"score":-11}]'))
  t.strictSame(await reranker.rerank(QUERY, ['a', 'b'], {}), [-11, -2.5])
})

t.test('a missing index makes the answer unusable', async (t) => {
  const { server, reranker } = await open(t)
  server.next(answering(200, '{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}'))
  await t.rejects(reranker.rerank(QUERY, TEXTS, {}), new ModelCallError(
    'unusable', 'The rerank endpoint answered with something else than one score for each text', { status: 200 },
  ))
})

t.test('an empty list of texts sends no request', async (t) => {
  const { server, reranker } = await open(t)
  t.strictSame(await reranker.rerank(QUERY, [], {}), [])
  t.equal(server.requests.length, 0)
})

t.test('a call that is already aborted sends no request', async (t) => {
  const { server, reranker } = await open(t)
  await t.rejects(reranker.rerank(QUERY, TEXTS, { signal: AbortSignal.abort(new Error('gone')) }), new Error('gone'))
  t.equal(server.requests.length, 0)
})

t.test('a request is retried only if the settings say so', async (t) => {
  const { server, reranker } = await open(t)
  server.next(answering(500, ''))
  await t.rejects(reranker.rerank(QUERY, TEXTS, {}), new ModelCallError(
    'unreachable', 'The rerank endpoint answered 500', { status: 500 },
  ))
  t.equal(server.requests.length, 1)
})

t.test('requests in progress never exceed the limit', async (t) => {
  const { server, reranker } = await open(t, { max_concurrency: 2 })
  server.gather(2)
  await Promise.all(Array.from({ length: 9 }, async () => await reranker.rerank(QUERY, TEXTS, {})))
  t.equal(server.requests.length, 9)
  t.equal(server.mostAtOnce, 2)
})

t.test('closing the reranker ends requests in progress', async (t) => {
  const { server, reranker } = await open(t)
  server.always(silent)
  const call = reranker.rerank(QUERY, TEXTS, {})
  const request = await server.received(1)
  await reranker.close?.()
  await t.rejects(call, new ModelCallError(
    'unreachable', 'The rerank endpoint is no longer called: the provider is closed',
  ))
  t.equal(await request.over, 'left')
})
