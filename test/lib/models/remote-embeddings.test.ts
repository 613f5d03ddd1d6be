import t, { type Test } from 'tap'
import { makeRemoteEmbeddingProvider } from '../../../lib/models/remote/embedding-provider.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { embeddingProviderContract } from '../../contract/embedding-provider.js'
import {
  answering, DIMENSIONS, embeddings, sendJson, silent, startModelServer, vectorOf, type ModelServer,
} from '../../helpers/model-server.js'
import { numbered, openEmbeddings, vectorsOf, type Opened } from './remote-support.js'

embeddingProviderContract(
  'openai_compatible', async (t) => (await openEmbeddings(t, { batch_size: 2 })).provider, { deterministic: true },
)

t.test('requests', async (t) => {
  t.test('a request contains what the protocol requires, and nothing else', async (t) => {
    const { server, provider } = await openEmbeddings(t)
    t.strictSame(await provider.embed(['one', 'two'], {}), vectorsOf(['one', 'two']))
    const [request] = server.requests
    t.equal(request!.path, '/v1/embeddings')
    t.strictSame(request!.query, {})
    t.strictSame(request!.body, { model: 'test', input: ['one', 'two'] })
    t.equal(request!.headers['content-type'], 'application/json')
    t.equal(request!.headers.authorization, undefined)
  })

  t.test('key, headers and query parameters are sent', async (t) => {
    const { server, provider } = await openEmbeddings(t, {
      api_key: 'secret',
      headers: { 'API-Key': 'other', 'x-org': 'mine' },
      query_params: { 'api-version': '2024-10-21' },
    })
    await provider.embed(['one'], {})
    const { headers, query } = server.requests[0]!
    t.match(headers, { authorization: 'Bearer secret', 'api-key': 'other', 'x-org': 'mine' })
    t.strictSame(query, { 'api-version': '2024-10-21' })
  })

  t.test('a slash at the end of base_url makes no difference', async (t) => {
    const server = await startModelServer(t)
    const provider = await makeRemoteEmbeddingProvider(
      { base_url: `${server.url}/`, model: 'test', dimensions: DIMENSIONS }, { baseDirectory: '/' },
    )
    await provider.embed(['one'], {})
    t.equal(server.requests[0]!.path, '/v1/embeddings')
  })

  t.test('prefixes and input_type distinguish queries from documents', async (t) => {
    const { server, provider } = await openEmbeddings(t, {
      query_prefix: 'query: ', document_prefix: 'passage: ', input_type: true,
    })
    t.strictSame(await provider.embed(['one'], { purpose: 'query' }), vectorsOf(['query: one']))
    t.strictSame(await provider.embed(['one'], { purpose: 'document' }), vectorsOf(['passage: one']))
    t.strictSame(await provider.embed(['two'], {}), vectorsOf(['passage: two']))
    t.strictSame(server.requests.map(({ body }) => [body['input_type'], body['input']]), [
      ['query', ['query: one']], ['document', ['passage: one']], ['document', ['passage: two']],
    ])
  })

  t.test('dimensions are sent when that is configured', async (t) => {
    const { server, provider } = await openEmbeddings(t, { send_dimensions: true })
    await provider.embed(['one'], {})
    t.equal(server.requests[0]!.body['dimensions'], DIMENSIONS)
  })
})

t.test('answers', async (t) => {
  t.test('vectors are assigned to the texts that they name', async (t) => {
    const { server, provider } = await openEmbeddings(t)
    server.next(({ body }, response) => {
      sendJson(response, {
        data: (body['input'] as string[]).map((text, index) => ({ index, embedding: vectorOf(text) })).toReversed(),
      })
    })
    t.strictSame(await provider.embed(['one', 'two', 'three'], {}), vectorsOf(['one', 'two', 'three']))
  })

  const indexes: Array<[name: string, indexes: unknown[], usable: boolean]> = [
    ['without an index come in order', [undefined, undefined], true],
    ['with one index for all come in order', [0, 0], true],
    ['of which two claim the same text are refused', [1, 1, 0], false],
    ['for a text that there is not are refused', [0, 2], false],
    ['of which some have no index are refused', [0, undefined], false],
    ['with odd indexes are refused', [0, -1], false],
  ]
  for (const [name, given, usable] of indexes) {
    t.test(`vectors ${name}`, async (t) => {
      const { server, provider } = await openEmbeddings(t)
      server.next(({ body }, response) => {
        sendJson(response, {
          data: (body['input'] as string[]).map((text, place) => ({ index: given[place], embedding: vectorOf(text) })),
        })
      })
      const texts = numbered(given.length)
      if (usable) t.strictSame(await provider.embed(texts, {}), vectorsOf(texts))
      else {
        await t.rejects(provider.embed(texts, {}), new ModelCallError(
          'unusable', 'The embedding endpoint answered with vectors that do not say which text each belongs to',
          { status: 200 },
        ))
      }
    })
  }

  t.test('one vector of another length makes the answer unusable', async (t) => {
    const { server, provider } = await openEmbeddings(t)
    server.next(answering(200, JSON.stringify(embeddings([vectorOf('one'), vectorOf('two', 7)]))))
    await t.rejects(provider.embed(['one', 'two'], {}), new ModelCallError(
      'unusable',
      'The embedding endpoint answered with a vector of 7 dimensions instead of 8; dimensions must be what the ' +
        'model makes',
      { status: 200 },
    ))
  })
})

t.test('dimensions', async (t) => {
  async function start (
    t: Test, config: Record<string, unknown>, meet: (server: ModelServer) => void = () => {},
  ): Promise<Opened> {
    const server = await startModelServer(t)
    meet(server)
    return {
      server,
      provider: await makeRemoteEmbeddingProvider(
        { base_url: server.url, model: 'test', ...config }, { baseDirectory: '/' }, { sleep: async () => {} },
      ),
    }
  }

  t.test('the dimensions are requested at the start', async (t) => {
    const { server, provider } = await start(t, {})
    t.equal(provider.dimensions, DIMENSIONS)
    t.equal(server.requests.length, 1)
  })

  t.test('a temporary fault at the start is retried', async (t) => {
    const { provider } = await start(t, {}, (server) => { server.next(answering(503, '')) })
    t.equal(provider.dimensions, DIMENSIONS)
  })

  t.test('with configured dimensions the start sends no request', async (t) => {
    const { server, provider } = await start(t, { dimensions: 1024 })
    t.equal(provider.dimensions, 1024)
    t.equal(server.requests.length, 0)
  })

  t.test('an endpoint that refuses this request ends the start', async (t) => {
    await t.rejects(
      start(t, {}, (server) => { server.always(answering(401, '')) }),
      new ProviderError('embedding_provider_config: the dimensions of the model are not known: The embedding ' +
        'endpoint answered 401. Set dimensions, or correct base_url, model or the key'),
    )
  })

  t.test('an endpoint that does not answer ends the start in time', async (t) => {
    await t.rejects(start(t, { timeout_ms: 50 }, (server) => { server.always(silent) }), ProviderError)
  })

  t.test('later vectors must have the length of the first one', async (t) => {
    const { server, provider } = await start(t, {})
    server.next(answering(200, JSON.stringify(embeddings([vectorOf('one', 9)]))))
    await t.rejects(provider.embed(['one'], {}), new ModelCallError(
      'unusable',
      'The embedding endpoint answered with a vector of 9 dimensions instead of 8; dimensions must be what the ' +
        'model makes',
      { status: 200 },
    ))
  })
})

t.test('the name of the model contains exactly the settings that change the vectors of documents', async (t) => {
  const models: Array<[config: Record<string, unknown>, model: string]> = [
    [{}, 'test'],
    [{ query_prefix: 'query: ', send_dimensions: true }, 'test'],
    [{ document_prefix: '' }, 'test'],
    [{ document_prefix: 'passage: ' }, 'test document_prefix="passage: "'],
    [{ input_type: true }, 'test input_type=document'],
    [{ input_type: true, document_prefix: 'a' }, 'test input_type=document document_prefix="a"'],
  ]
  for (const [config, model] of models) t.equal((await openEmbeddings(t, config)).provider.model, model)
})

t.test('the circuit opens after failures of several calls, and closes after a trial', async (t) => {
  let now = 0
  const { server, provider } =
    await openEmbeddings(t, { max_retries: 0, breaker: { threshold: 2, recovery_ms: 500 } }, { timer: () => now })
  server.next(answering(500, ''), answering(500, ''))
  for (const text of ['one', 'two']) {
    await t.rejects(provider.embed([text], {}), new ModelCallError(
      'unreachable', 'The embedding endpoint answered 500', { status: 500 },
    ))
  }
  await t.rejects(provider.embed(['one'], { purpose: 'query' }), new ModelCallError(
    'circuit_open', 'The embedding endpoint failed 2 times in a row and is not asked for a while',
    { retryAfterMs: 500 },
  ))
  t.equal(server.requests.length, 2)
  t.strictSame(provider.status?.(), {
    breaker: { state: 'open', tenantsOpen: 0 }, running: 0, waiting: 0, cache: { hits: 0, misses: 3 },
  })
  now += 500
  t.strictSame(await provider.embed(['one'], {}), vectorsOf(['one']))
  await provider.embed(['one', 'two'], {})
  t.strictSame(provider.status?.(), {
    breaker: { state: 'closed', tenantsOpen: 0 }, running: 0, waiting: 0, cache: { hits: 1, misses: 5 },
  })
})

t.test('closing the provider ends requests in progress', async (t) => {
  const { server, provider } = await openEmbeddings(t)
  server.always(silent)
  const call = provider.embed(['one'], {})
  const request = await server.received(1)
  await provider.close?.()
  await t.rejects(call, new ModelCallError(
    'unreachable', 'The embedding endpoint is no longer called: the provider is closed',
  ))
  t.equal(await request.over, 'left')
})

t.test('the provider is deferred and has a weight', async (t) => {
  t.match((await openEmbeddings(t)).provider, { deferred: true, fusionWeight: 1.5 })
  t.match((await openEmbeddings(t, { fusion_weight: 0.4 })).provider, { fusionWeight: 0.4 })
})
