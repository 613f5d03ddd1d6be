import t from 'tap'
import { boundedLanguageModel } from '../../../lib/models/bounded-models.js'
import { makeAnthropicLanguageModel, makeOpenAiLanguageModel } from '../../../lib/models/remote/language-model.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { countTokens } from '../../../lib/text/tokens.js'
import { languageModelContract } from '../../contract/language-model.js'
import {
  answering, garbage, hangUp, says, silent, startLanguageServer, UNUSED_URL, type Behaviour, type LanguageRequest,
} from '../../helpers/language-server.js'
import { ask, everything, openModel, PROVIDERS, QUESTION, read, SYSTEM } from './language-support.js'

const SECRET = 'secret-of-the-test'
const SCHEMA = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] }

/**
 * Reads the prompt as a model would: it answers with the town that the evidence tells of, as far as the ceiling
 * reaches.
 */
function fromPrompt ({ user, maxTokens = Infinity }: LanguageRequest): string {
  const town = /lives in (?:the )?(\w+)/.exec(user)?.[1]
  const words = town === undefined ? ['Nobody', ' knows'] : ['Alice', ' lives', ' in', ` ${town}`, '.', ' [1]']
  const fitting = words.map((_, index) => words.slice(0, index + 1).join('')).filter((text) => (
    countTokens(text) <= maxTokens
  ))
  return fitting.at(-1) ?? 'A'
}

for (const provider of PROVIDERS) {
  languageModelContract(`RemoteLanguageModel, ${provider.name}`, async (t) => {
    const server = await startLanguageServer(t)
    server.always(says(fromPrompt, { usage: null }))
    const model = await provider.make({ base_url: server.url, model: 'test' }, { baseDirectory: '/' })
    return boundedLanguageModel(model, {
      breaker: { threshold: 5, recoveryMs: 1000, halfOpenCalls: 1 }, ceilingMs: () => 60_000,
    })
  }, { extractive: false, runs: 25 })
}

t.test('requests', async (t) => {
  for (const provider of PROVIDERS) {
    t.test(`${provider.name}: the messages and the token limit`, async (t) => {
      const { server, model } = await openModel(t, provider)
      const answers = [await model.generate(ask()), await read(model.stream!(ask()))]
      t.strictSame(answers.map(({ text }) => text), ['Alice lives in Lyon. [1]', 'Alice lives in Lyon. [1]'])
      t.strictSame(server.requests.map(({ system, user, maxTokens, stream }) => ({
        system, user, maxTokens, stream,
      })), [
        { system: SYSTEM, user: QUESTION, maxTokens: 100, stream: false },
        { system: SYSTEM, user: QUESTION, maxTokens: 100, stream: true },
      ])
      t.strictSame(
        server.requests.map(({ body }) => [
          body['model'], body['temperature'], body['top_p'], body['response_format'], body['output_config'],
        ]),
        Array(2).fill(['test', undefined, undefined, undefined, undefined]),
      )
      t.equal(model.model, 'test')
    })

    t.test(`${provider.name}: the settings`, async (t) => {
      const { server, model } = await openModel(t, provider, {
        temperature: 0.5, max_output_tokens: 50, headers: { 'x-other': 'yes' }, query_params: { 'api-version': '1' },
      })
      await model.generate(ask())
      await model.generate(ask({ maxTokens: 7 }))
      t.strictSame(server.requests.map(({ maxTokens }) => maxTokens), [50, 7])
      const [{ body, headers, query }] = server.requests as [LanguageRequest]
      t.equal(body['temperature'], 0.5)
      t.equal(headers['x-other'], 'yes')
      t.strictSame(query, { 'api-version': '1' })
    })
  }

  t.test('openai_compatible: the key as a bearer token, top_p, and the token limit under its other name', async (t) => {
    const { server, model } = await openModel(t, PROVIDERS[0], {
      api_key: SECRET, top_p: 0.9, max_tokens_parameter: 'max_completion_tokens',
    })
    await model.generate(ask())
    await read(model.stream!(ask()))
    for (const { body, headers } of server.requests) {
      t.equal(headers.authorization, `Bearer ${SECRET}`)
      t.strictSame([body['top_p'], body['max_tokens'], body['max_completion_tokens']], [0.9, undefined, 100])
    }
  })

  t.test('anthropic: the key in its own header, and none without a key', async (t) => {
    const { server, model } = await openModel(t, PROVIDERS[1], { api_key: SECRET, top_p: 0.9 })
    await model.generate(ask({ maxTokens: 1_000_000 }))
    t.strictSame(
      [
        server.requests[0]!.headers['x-api-key'], server.requests[0]!.headers.authorization,
        server.requests[0]!.body['top_p'],
      ],
      [SECRET, undefined, 0.9],
    )
    t.equal(server.requests[0]!.maxTokens, 8192)
    const other = await openModel(t, PROVIDERS[1])
    await other.model.generate(ask())
    t.equal(other.server.requests[0]!.headers['x-api-key'], undefined)
  })

  t.test('a schema is sent if the endpoint accepts it', async (t) => {
    const cases = [
      [PROVIDERS[0], {}, 'response_format', { type: 'json_object' }],
      [
        PROVIDERS[0], { structured_outputs: true }, 'response_format',
        { type: 'json_schema', json_schema: { schema: SCHEMA, strict: false, name: 'answer' } },
      ],
      [PROVIDERS[1], {}, 'output_config', undefined],
      [
        PROVIDERS[1], { structured_outputs: true, model: 'claude-sonnet-4-5' }, 'output_config',
        { format: { type: 'json_schema', schema: { ...SCHEMA, additionalProperties: false } } },
      ],
    ] as const
    for (const [provider, config, name, sent] of cases) {
      const { server, model } = await openModel(t, provider, config)
      await model.generate(ask({ responseSchema: SCHEMA }))
      t.match(
        server.requests[0]!.body[name] ?? 'nothing', sent ?? 'nothing', `${provider.name} ${JSON.stringify(config)}`,
      )
    }
  })

  t.test('a setting that the model does not accept is reported once', async (t) => {
    const warnings: string[] = []
    const { server, model } = await openModel(
      t, PROVIDERS[1], { model: 'claude-opus-5', temperature: 0.5 }, (message) => { warnings.push(message) },
    )
    for (let call = 0; call < 2; call++) await model.generate(ask())
    await read(model.stream!(ask()))
    t.strictSame(warnings, ['llm_provider_config: temperature cannot be sent to claude-opus-5 as it is set'])
    t.equal(server.requests[0]!.body['temperature'], undefined)
  })
})

t.test('answers', async (t) => {
  const counted = { inputTokens: countTokens(SYSTEM) + countTokens(QUESTION), outputTokens: countTokens('It is so.') }
  const cases: Array<[name: string, behaviour: Behaviour, usage: object, finish: string, text?: string]> = [
    [
      'the tokens that the endpoint names', says('It is so.', { usage: { inputTokens: 123, outputTokens: 4 } }),
      { inputTokens: 123, outputTokens: 4 }, 'stop',
    ],
    ['tokens that it does not name are counted', says('It is so.', { usage: null }), counted, 'stop'],
    [
      'tokens that are no numbers are counted',
      says('It is so.', { usage: { inputTokens: '123', outputTokens: null } }), counted, 'stop',
    ],
    [
      'tokens that cannot be are counted', says('It is so.', { usage: { inputTokens: -1, outputTokens: 1e300 } }),
      counted, 'stop',
    ],
    [
      'tokens that are no whole numbers are counted',
      says('It is so.', { usage: { inputTokens: 1.5, outputTokens: 0 } }), counted, 'stop',
    ],
    ['an answer that the ceiling cut', says('It is so.', { finish: 'length', usage: null }), counted, 'length'],
    [
      'an answer that was held back', says('', { finish: 'filtered', usage: null }), { ...counted, outputTokens: 0 },
      'filtered', '',
    ],
    ['thoughts are no text', says('It is so.', { reasoning: 'Is it so? Perhaps.', usage: null }), counted, 'stop'],
    [
      'a text with a sign in two pieces', says('It is so.', { pieces: ['It i', 's so', '.'], usage: null }), counted,
      'stop',
    ],
  ]
  for (const provider of PROVIDERS) {
    for (const [name, behaviour, usage, finish, text = 'It is so.'] of cases) {
      t.test(`${provider.name}: ${name}`, async (t) => {
        const { server, model } = await openModel(t, provider)
        server.always(behaviour)
        t.strictSame(await model.generate(ask()), { text, usage, finish })
        t.strictSame(await read(model.stream!(ask())), { text, end: { type: 'end', usage, finish } })
      })
    }
  }

  t.test('a stream that is not closed after its last event still ends', async (t) => {
    for (const provider of PROVIDERS) {
      const { server, model } = await openModel(t, provider)
      server.always((request, response) => {
        response.end = () => response
        return says('It is so.')(request, response)
      })
      t.match(await read(model.stream!(ask())), { text: 'It is so.', end: { finish: 'stop' } })
      t.equal(await server.requests[0]!.over, 'left')
    }
  })
})

t.test('the probe', async (t) => {
  const failures: Array<[name: string, behaviour: Behaviour | 'refused', message: RegExp]> = [
    [
      'a wrong key', answering(401, `{"error":{"message":"${SECRET}","code":"invalid_api_key"}}`),
      new RegExp('^llm_provider_config: the probe failed, the key is refused: The language model answered 401 ' +
        String.raw`\(invalid_api_key\)$`),
    ],
    [
      'an unknown model', answering(404, '{"error":{"code":"model_not_found"}}'),
      /base_url or model is not known there: The language model answered 404 \(model_not_found\)$/,
    ],
    [
      'a parameter that is not taken', answering(400, '{"error":{"code":"unsupported_parameter"}}'),
      /the request is refused; look at model and max_tokens_parameter: .* 400 \(unsupported_parameter\)$/,
    ],
    ['no connection', 'refused', /there is no connection: .*\(ECONNREFUSED\)$/],
    ['a connection that breaks', hangUp, /there is no connection: /],
    ['no answer', silent, /there is no answer in time: .* within 300 ms$/],
    ['an endpoint in trouble', answering(503, ''), /the endpoint is in trouble: .* 503$/],
    ['another server', garbage('html'), /base_url is not that of such an API: /],
  ]
  for (const { name: provider, make } of PROVIDERS) {
    for (const [name, behaviour, message] of failures) {
      t.test(`${provider}: ${name} ends the start`, async (t) => {
        const server = await startLanguageServer(t)
        if (behaviour !== 'refused') server.always(behaviour)
        const config = {
          base_url: behaviour === 'refused' ? UNUSED_URL : server.url,
          model: 'test',
          api_key: SECRET,
          probe: true,
          // Only one waits for it; a busy machine answers the others late.
          timeout_ms: behaviour === silent ? 300 : 30_000,
          max_retries: 1,
        }
        const error: unknown = await make(config, { baseDirectory: '/' }, { sleep: async () => {} })
          .catch((reason: unknown) => reason)
        t.ok(error instanceof ProviderError)
        t.match(error, { message })
        t.notOk(everything(error).includes(SECRET))
      })
    }

    t.test(`${provider}: an answer of any kind is enough`, async (t) => {
      const server = await startLanguageServer(t)
      server.next(says('', { finish: 'length' }))
      await make({ base_url: server.url, model: 'test', probe: true }, { baseDirectory: '/' })
      t.strictSame(server.requests.map(({ maxTokens }) => maxTokens), [16])
    })

    t.test(`${provider}: an exhausted limit is a warning`, async (t) => {
      const server = await startLanguageServer(t)
      server.always(answering(429, ''))
      const warnings: string[] = []
      await make(
        { base_url: server.url, model: 'test', probe: true },
        { baseDirectory: '/', warn: (message) => { warnings.push(message) } }, { sleep: async () => {} },
      )
      t.strictSame(warnings, ['llm_provider_config: The language model answered 429 when it was probed'])
      t.equal(server.requests.length, 3)
    })

    t.test(`${provider}: without the probe the start sends no request`, async (t) => {
      const server = await startLanguageServer(t)
      await make({ base_url: server.url, model: 'test' }, { baseDirectory: '/' })
      t.equal(server.requests.length, 0)
    })
  }
})

t.test('settings', async (t) => {
  const refusal = async (make: () => Promise<unknown>) => (
    await make().then(() => 'It was taken', (error: unknown) => (
      error instanceof ProviderError ? error.message : String(error)
    ))
  )
  const RIGHT = { base_url: 'http://127.0.0.1:9/v1', model: 'test' }

  t.test('invalid settings are refused by name', async (t) => {
    for (const { name, make } of PROVIDERS) {
      const wrong: Array<[config: Record<string, unknown>, message: RegExp]> = [
        [{ ...RIGHT, model: undefined }, /^llm_provider_config\.model: /],
        [
          { ...RIGHT, base_url: `https://user:${SECRET}@host` },
          /^llm_provider_config\.base_url: must be an http or https URL without user/,
        ],
        [{ ...RIGHT, temperature: 3 }, /^llm_provider_config\.temperature: /],
        [{ ...RIGHT, max_output_tokens: 0 }, /^llm_provider_config\.max_output_tokens: /],
        [{ ...RIGHT, modle: SECRET }, /^llm_provider_config\.modle: is not a known key; did you mean "model"\?$/],
        [
          { ...RIGHT, api_key: SECRET, api_key_env: 'KEY' },
          /^llm_provider_config: only one of api_key, api_key_env may be set$/,
        ],
        [{ ...RIGHT, api_key: `${SECRET}\nx` }, /^llm_provider_config: the key cannot be sent in an HTTP header/],
      ]
      for (const [config, message] of wrong) {
        const found = await refusal(async () => await make(config, { baseDirectory: '/' }))
        t.match(found, message, name)
        t.notOk(found.includes(SECRET))
      }
    }
  })

  t.test('openai_compatible needs an address, and anthropic has a default', async (t) => {
    t.match(
      await refusal(async () => await makeOpenAiLanguageModel({ model: 'test' }, { baseDirectory: '/' })),
      /^llm_provider_config\.base_url: /,
    )
    t.equal(
      await refusal(async () => await makeAnthropicLanguageModel({ model: 'test' }, { baseDirectory: '/' })),
      'It was taken',
    )
  })

  t.test('anthropic accepts only one of temperature and top_p', async (t) => {
    t.equal(
      await refusal(async () => (
        await makeAnthropicLanguageModel({ model: 'test', temperature: 0.5, top_p: 0.5 }, { baseDirectory: '/' })
      )),
      'llm_provider_config: only one of temperature, top_p may be set',
    )
  })

  t.test('the limits are those of the settings', async (t) => {
    for (const { make } of PROVIDERS) {
      t.strictSame((await make(RIGHT, { baseDirectory: '/' })).limits, {
        attemptTimeoutMs: 20_000, maxRetries: 2, maxConcurrency: 64, maxWaiting: 1024,
      })
      t.strictSame(
        (await make(
          { ...RIGHT, timeout_ms: 1000, max_retries: 0, max_concurrency: 3, max_waiting: 4 }, { baseDirectory: '/' },
        )).limits,
        { attemptTimeoutMs: 1000, maxRetries: 0, maxConcurrency: 3, maxWaiting: 4 },
      )
    }
  })
})
