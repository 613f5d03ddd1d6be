import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { makeRemoteEmbeddingProvider } from '../../../lib/models/remote/embedding-provider.js'
import { makeRemoteReranker } from '../../../lib/models/remote/reranker.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { DIMENSIONS, startModelServer } from '../../helpers/model-server.js'

const SECRET = 'secret-of-the-test'
const RIGHT = { base_url: 'http://127.0.0.1:9/v1', model: 'test', dimensions: DIMENSIONS }

/** The message for a wrong map. It must be a ProviderError that shows no secret. */
async function refusal (make: () => unknown): Promise<string> {
  try {
    await make()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (inspect(error, { depth: Infinity, showHidden: true }).includes(SECRET)) throw new Error('A secret is shown')
    return error.message
  }
  return 'It was taken'
}

const WRONG: Array<[name: string, config: Record<string, unknown>, message: string | RegExp]> = [
  ['without a URL', { base_url: undefined }, 'K.base_url: is required'],
  ['with a URL of another protocol', { base_url: `ftp://${SECRET}` }, /^K\.base_url: /],
  ['with a broken URL', { base_url: `http://[${SECRET}` }, /^K\.base_url: must be an http or https URL without user/],
  [
    'with a password in the URL', { base_url: `https://user:${SECRET}@host/v1` },
    /^K\.base_url: must be an http or https URL without user/,
  ],
  [
    'with a query in the URL', { base_url: `https://host/v1?key=${SECRET}` },
    /^K\.base_url: must be an http or https URL without user/,
  ],
  ['with a key that is not known', { modle: SECRET }, 'K.modle: is not a known key; did you mean "model"?'],
  ['with an empty key', { api_key: '' }, /^K\.api_key: /],
  ['with two keys', { api_key: SECRET, api_key_env: 'KEY' }, 'K: only one of api_key, api_key_env may be set'],
  [
    'with three keys', { api_key: SECRET, api_key_env: 'KEY', api_key_file: 'key' },
    'K: only one of api_key, api_key_env, api_key_file may be set',
  ],
  [
    'with a variable that is not set', { api_key_env: 'SOME_API_KEY_2' },
    'K.api_key_env: the environment variable SOME_API_KEY_2 is not set',
  ],
  [
    'with a variable that is empty', { api_key_env: 'EMPTY' },
    'K.api_key_env: the environment variable EMPTY is not set',
  ],
  [
    'with a key where the name of a variable belongs', { api_key_env: SECRET },
    'K.api_key_env: the environment variable that it names (not shown, since it is not written like ' +
      'OPENAI_API_KEY) is not set',
  ],
  [
    'with a key in capitals where the name of a variable belongs', { api_key_env: 'JBSWY3DPEHPK3PXPJBSWY3DP' },
    'K.api_key_env: the environment variable that it names (not shown, since it is not written like ' +
      'OPENAI_API_KEY) is not set',
  ],
  ['with a file that there is not', { api_key_file: SECRET }, 'K.api_key_file: the file cannot be read (ENOENT)'],
  ['with an empty file', { api_key_file: 'empty' }, 'K.api_key_file: the file is empty'],
  [
    'with a file that is not UTF-8', { api_key_file: 'latin1' },
    'K.api_key_file: the file cannot be read (ERR_ENCODING_INVALID_ENCODED_DATA)',
  ],
  [
    'with a key of two lines', { api_key: `${SECRET}\nx` },
    'K: the key cannot be sent in an HTTP header (the value is not shown)',
  ],
  [
    'with a key that no header can hold', { api_key: `${SECRET}東` },
    'K: the key cannot be sent in an HTTP header (the value is not shown)',
  ],
  [
    'with a header that cannot be sent', { headers: { 'x-key': `${SECRET}\r\nx: y` } },
    'K.headers.x-key: cannot be sent in an HTTP header (the value is not shown)',
  ],
  [
    'with a header whose name cannot be sent', { headers: { [`${SECRET}: x`]: 'y' } },
    'K: one of headers cannot be sent in an HTTP header (the value is not shown)',
  ],
  ['with a header that is no text', { headers: { 'x-key': 1 } }, 'K.headers.x-key: must be a text'],
  ['with a list of headers', { headers: [] }, 'K.headers: must be a map'],
  ['with a time of no length', { timeout_ms: 0 }, /^K\.timeout_ms: /],
  ['with a circuit that never opens', { breaker: { threshold: 0 } }, /^K\.breaker\.threshold: /],
]

function surroundings (t: Test) {
  const baseDirectory = t.testdir({
    key: `${SECRET}\n`, windows: `${SECRET}\r\n`, spaced: ` ${SECRET}\n\n`, empty: '\n',
  })
  writeFileSync(join(baseDirectory, 'latin1'), Buffer.from([0x6b, 0xe9, 0x79]))
  return { baseDirectory, environment: { KEY: SECRET, EMPTY: '' } }
}

t.test('invalid settings are refused by name', async (t) => {
  const around = surroundings(t)
  const makers: Array<[key: string, make: (config: Record<string, unknown>) => unknown]> = [
    ['embedding_provider_config', async (config) => await makeRemoteEmbeddingProvider({ ...RIGHT, ...config }, around)],
    ['reranker_config', (config) => makeRemoteReranker({ base_url: RIGHT.base_url, model: 'test', ...config }, around)],
  ]
  for (const [key, make] of makers) {
    for (const [name, config, message] of WRONG) {
      const found = (await refusal(() => make(config))).replaceAll(key, 'K')
      if (typeof message === 'string') t.equal(found, message, `${key} ${name}`)
      else t.match(found, message, `${key} ${name}`)
    }
  }
})

t.test('an embedding provider needs a model, and dimensions to send them', async (t) => {
  t.match(
    await refusal(async () => await makeRemoteEmbeddingProvider({ base_url: RIGHT.base_url }, { baseDirectory: '/' })),
    /embedding_provider_config\.model: is required/,
  )
  t.equal(
    await refusal(async () => (
      await makeRemoteEmbeddingProvider(
        { base_url: RIGHT.base_url, model: 'a', send_dimensions: true }, { baseDirectory: '/' },
      )
    )),
    'embedding_provider_config: send_dimensions needs dimensions',
  )
})

t.test('a reranker needs a model, unless its style has none', async (t) => {
  t.equal(
    await refusal(() => makeRemoteReranker({ base_url: RIGHT.base_url }, { baseDirectory: '/' })),
    'reranker_config.model: is required',
  )
  t.equal(
    await refusal(() => makeRemoteReranker({ base_url: RIGHT.base_url, style: 'tei' }, { baseDirectory: '/' })),
    'It was taken',
  )
  t.match(
    await refusal(() => makeRemoteReranker({ base_url: RIGHT.base_url, style: 'other' }, { baseDirectory: '/' })),
    /reranker_config\.style: /,
  )
})

t.test('the key', async (t) => {
  const ways: Array<[name: string, config: Record<string, unknown>, sent: string | undefined]> = [
    ['may be missing', {}, undefined],
    ['may stand in the map', { api_key: SECRET }, `Bearer ${SECRET}`],
    ['may stand in a variable', { api_key_env: 'KEY' }, `Bearer ${SECRET}`],
    ['may stand in a file, beside the configuration', { api_key_file: 'key' }, `Bearer ${SECRET}`],
    ['may stand in a file of another system', { api_key_file: 'windows' }, `Bearer ${SECRET}`],
    [
      'gives way to a header of that name', { api_key: 'other', headers: { Authorization: `Basic ${SECRET}` } },
      `Basic ${SECRET}`,
    ],
  ]
  for (const [name, config, sent] of ways) {
    t.test(name, async (t) => {
      const server = await startModelServer(t)
      const provider = await makeRemoteEmbeddingProvider({ ...RIGHT, base_url: server.url, ...config }, surroundings(t))
      await provider.embed(['one'], {})
      t.equal(server.requests[0]!.headers.authorization, sent)
    })
  }
})
