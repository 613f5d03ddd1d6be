import t, { type Test } from 'tap'
import { spawnServer, startServer } from '../helpers/server.js'

/** Starts the server, which must refuse to start. @returns its output */
async function refusal (t: Test, env: Record<string, string>): Promise<string> {
  const server = spawnServer(t, { SERVICES_PORT: '0', ...env })
  t.equal(await server.ended, 1, 'the exit code is 1')
  const said = server.output()
  t.notMatch(said, /\n\s+at |node:internal|"level":[56]0/, 'the message has no stack')
  t.notMatch(said, /Server listening/)
  return said
}

const EVERYTHING_WRONG = `
vector_stor: in_memory
access_control:
  default_policy: closed
banks:
  team:
    access:
      - { principal: "us*er", permissions: [reed] }
homeostasis:
  recall_max_tokens: "\${NOWHERE}"
`

t.test('all problems of the environment and of the file are reported together', async (t) => {
  const directory = t.testdir({ 'config.yaml': EVERYTHING_WRONG })
  const said = await refusal(t, {
    SERVICES_PORT: '99999',
    SERVICE_AUTH_MODE: 'apikey',
    SERVICES_HSOT: '127.0.0.1',
    SERVICE_API_KEY: '',
    SERVICES_HEALTH_TIMEOUT_MS: 'soon',
    SERVICES_CONFIG_PATH: `${directory}/config.yaml`,
  })
  t.match(said, /^The configuration has 10 problems:\n/m)
  for (const name of [
    'SERVICES_PORT', 'SERVICE_AUTH_MODE', 'SERVICES_HSOT', 'SERVICE_API_KEY', 'SERVICES_HEALTH_TIMEOUT_MS',
    'vector_stor', 'access_control.default_policy', 'banks.team.access[0].principal',
    'banks.team.access[0].permissions', 'NOWHERE',
  ]) {
    t.equal(
      said.split('\n').filter((line) => line.startsWith('- ') && line.includes(name)).length, 1, `${name} has one line`,
    )
  }
  t.match(said, /99999.*0.*65535/s, 'the message says what was found and what is allowed')
})

t.test('problems in the settings of providers are reported together with all others', async (t) => {
  const directory = t.testdir({
    'config.yaml': `
vector_store_config: { data_dir: memories }
llm_provider_config: { model: m }
embedding_provider: openai_compatible
embedding_provider_config: { modell: m, api_key_env: EMBEDDING_KEY }
retrieval: { rerank: { candidates: 5 } }
banks: { team: { profile: none } }
`,
  })
  const said = await refusal(t, {
    SERVICES_CONFIG_PATH: `${directory}/config.yaml`, SERVICES_HEALTH_TIMEOUT_MS: 'soon', EMBEDDING_KEY: ' ',
  })
  t.match(said, /^The configuration has 7 problems:\n/m)
  for (const name of [
    'SERVICES_HEALTH_TIMEOUT_MS', 'EMBEDDING_KEY', 'vector_store_config.data_dir', 'llm_provider_config',
    'embedding_provider_config.modell', 'retrieval.rerank', 'banks.team.profile',
  ]) {
    t.equal(
      said.split('\n').filter((line) => line.startsWith('- ') && line.includes(name)).length, 1, `${name} has one line`,
    )
  }
})

t.test('a missing configuration file ends the start', async (t) => {
  const said = await refusal(t, { SERVICES_CONFIG_PATH: '/nowhere/config.yaml' })
  t.match(said, /SERVICES_CONFIG_PATH: found "\/nowhere\/config.yaml", which cannot be read/)
})

const PROVIDERS: ReadonlyArray<readonly [what: string, yaml: string, says: RegExp]> = [
  [
    'an unknown vector store', 'vector_store: pinecone',
    /^- vector_store: found "pinecone", allowed are in_memory.* and module:Class$/m,
  ],
  [
    'a package that is not installed', 'vector_store: no-such-package:Store',
    /^vector_store: the module "no-such-package" cannot be loaded: /m,
  ],
  [
    'a class that lacks methods', 'vector_store: ./store.mjs:Empty',
    /^vector_store: .\/store.mjs:Empty lacks health\(\), insert\(\), search\(\)/m,
  ],
  [
    'a class that throws', 'vector_store: ./store.mjs:Broken',
    /^vector_store: .\/store.mjs:Broken could not be made: no luck$/m,
  ],
  [
    'a store that does not start', 'vector_store: ./store.mjs:Down\nvector_store_config: {key: sk-hunter2}',
    /^vector_store: .\/store.mjs:Down could not be started: … is not valid for postgres:\/\/…@db\/x$/m,
  ],
]

const STORES = `
import { InMemoryVectorStore } from 'memory-gateway/lib/stores/in-memory/store.js'
export class Empty {}
export class Broken { constructor () { throw new Error('no luck') } }
export class Down extends InMemoryVectorStore {
  constructor ({ key }) {
    super()
    this.key = key
  }

  async start () { throw new Error(this.key + ' is not valid for postgres://gateway:hunter2@db/x') }
}`

t.test('a provider that cannot be loaded ends the start', async (t) => {
  for (const [what, yaml, says] of PROVIDERS) {
    await t.test(what, async (t) => {
      const directory = t.testdir({ 'config.yaml': `${yaml}\n`, 'store.mjs': STORES })
      const said = await refusal(t, { SERVICES_CONFIG_PATH: `${directory}/config.yaml` })
      t.match(said, says)
      t.notMatch(said, 'hunter2')
    })
  }
})

t.test('an unknown way of encryption ends the start before a connection is made', async (t) => {
  const directory = t.testdir({ 'config.yaml': 'vector_store: postgres\n' })
  const said = await refusal(t, {
    SERVICES_CONFIG_PATH: `${directory}/config.yaml`,
    DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/memory?sslmode=requird',
  })
  t.match(said, /DATABASE_URL: sslmode must be disable, prefer, require or verify-full \(the value is not shown\)$/m)
  t.notMatch(said, /hunter2|requird/)
})

t.test('dev mode does not start on an address that others can reach', async (t) => {
  for (const host of ['0.0.0.0', 'example.test']) {
    t.match(
      await refusal(t, { SERVICES_HOST: host }),
      /SERVICES_HOST: found .* with SERVICE_AUTH_MODE dev, which trusts every caller/, host,
    )
  }
})

t.test('an address that cannot be listened on ends the start', async (t) => {
  const { port } = new URL((await startServer(t)).url)
  t.equal(
    (await refusal(t, { SERVICES_PORT: port })).trim().split('\n').at(-1),
    `SERVICES_HOST, SERVICES_PORT: cannot listen on 127.0.0.1, port ${port}: the port is in use`,
  )
  t.match(
    await refusal(t, { SERVICES_HOST: '192.0.2.1', SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'k' }),
    /cannot listen on 192.0.2.1, port 0: this machine has no such address/,
  )
})
