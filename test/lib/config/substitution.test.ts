/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import t from 'tap'
import { loadCommand, loadYaml, yamlProblems } from './load-with.js'
import { loadConfig } from '../../../lib/config/load.js'

function store (text: string, env: Record<string, string> = {}) {
  return loadYaml(`vector_store_config: {v: ${JSON.stringify(text)}}`, env).file.vector_store_config?.['v']
}

await t.test('references in texts are replaced', async (t) => {
  const env = { HOST: 'db', _x1: 'y' }
  t.equal(store('${HOST}', env), 'db')
  t.equal(store('postgres://${HOST}:5432/${_x1}', env), 'postgres://db:5432/y')
  t.equal(store('$HOST {HOST} $ {HOST} 5$', env), '$HOST {HOST} $ {HOST} 5$', 'other forms are plain text')
})

await t.test('$${ is a literal ${', async (t) => {
  t.equal(store('$${HOST}'), '${HOST}')
  t.equal(store('a$${b$${'), 'a${b${')
  t.equal(store('$$${HOST}'), '$${HOST}')
})

await t.test('a substituted value is not substituted again', async (t) => {
  const env = { A: '${B}', B: 'b', C: '$${B} $& $1' }
  t.equal(store('${A}', env), '${B}')
  t.equal(store('${C}', env), '$${B} $& $1')
  t.equal(store('${A}${B}', env), '${B}b')
})

await t.test('keys are not replaced', async (t) => {
  t.same(loadYaml('vector_store_config: {"${A}": 1}').file.vector_store_config, { '${A}': 1 })
})

await t.test('every reference that cannot be resolved is a problem with its path', async (t) => {
  t.same(yamlProblems('vector_store: ${NOPE}\nvector_store_config: {a: ["x${GONE}${NOPE}"]}', { GONE: undefined }), [
    'vector_store: ${NOPE} cannot be replaced, NOPE is not set',
    'vector_store_config.a[0]: ${GONE} cannot be replaced, GONE is not set',
    'vector_store_config.a[0]: ${NOPE} cannot be replaced, NOPE is not set',
  ])
  t.same(yamlProblems('vector_store: ${A}', { A: ' ' }), ['vector_store: ${A} cannot be replaced, A is set but ' +
    'empty; unset it or give it a value'])
  t.same(yamlProblems('homeostasis:\n  recall_max_tokens: ${NOPE}').length, 1, 'the place is not reported twice')
})

await t.test('names of object methods are not variables', async (t) => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    t.same(yamlProblems(`vector_store: \${${name}}`), [`vector_store: \${${name}} cannot be replaced, ` +
      `${name} is not set`])
  }
})

await t.test('a reference of another form is a problem', async (t) => {
  for (const text of ['${', '${}', '${A B}', '${A:-b}', '${1A}', '${A', '${ä}']) {
    t.same(
      yamlProblems(`vector_store: '${text}'`, { A: 'a' }),
      ['vector_store: "${" does not begin a reference of the form ${NAME}; write "$${" for a literal "${"'], text,
    )
  }
})

await t.test('a reference alone becomes the number or boolean that the setting requires', async (t) => {
  const yaml = 'homeostasis: {recall_max_tokens: "${N}"}\nretrieval: {bm25: {k1: "${F}"}}\naccess_control: {enabled: ' +
    '"${B}"}\nbanks: {"a*": {homeostasis: {quotas: {retain_per_day: "${N}"}}}}\n' +
    'vector_store: "${N}"\nvector_store_config: {port: "${N}"}'
  t.match(loadYaml(yaml, { N: '42', F: ' 1.25 ', B: 'true' }).file, {
    homeostasis: { recall_max_tokens: 42 },
    retrieval: { bm25: { k1: 1.25 } },
    access_control: { enabled: true },
    banks: { 'a*': { homeostasis: { quotas: { retain_per_day: 42 } } } },
    vector_store: '42',
    vector_store_config: { port: '42' },
  })
})

await t.test('the settings of a registered provider are of the types of its schema', async (t) => {
  const store = 'vector_store_config: {pool_size: "${N}", bootstrap_schema: "${B}", schema: "${B}", index_from: "7", ' +
    'pool_wait_ms: many, unknown: "7"}\n'
  const env = { N: ' 42', B: 'false' }
  const typed = {
    pool_size: 42, bootstrap_schema: false, schema: 'false', index_from: 7, pool_wait_ms: 'many', unknown: '7',
  }
  const registered = loadYaml(`vector_store: postgres\n${store}`, env)
  t.same(registered.file.vector_store_config, typed)
  t.same(registered.settings.vectorStore.config, typed)
  const command = loadCommand(
    { SERVICES_CONFIG_PATH: '/c', ...env }, { keys: ['vector_store', 'vector_store_config'] },
    { '/c': `vector_store: postgres\n${store}` },
  )
  t.same(command.file.vector_store_config, typed)
  const texts = {
    pool_size: ' 42', bootstrap_schema: 'false', schema: 'false', index_from: '7', pool_wait_ms: 'many', unknown: '7',
  }
  t.same(loadYaml(`vector_store: ./store.js:Store\n${store}`, env).file.vector_store_config, texts, 'a class has none')
  t.same(loadYaml('vector_store_config: {max_bytes: "${N}"}', env).file.vector_store_config, { max_bytes: 42 })
  t.same(
    loadYaml('reranker: rerank_endpoint\nreranker_config: {breaker: {threshold: "${N}"}, headers: {a: "${N}"}}', env)
      .settings.reranker?.config, { breaker: { threshold: 42 }, headers: { a: ' 42' } }, 'also those inside a section',
  )
  const file = { vector_store: 'postgres', vector_store_config: { pool_size: '7' } }
  t.same(loadConfig({}, { file }).file.vector_store_config, { pool_size: 7 }, 'a text of a program')
})

await t.test('any other text stays a text, and the problem of the setting does not show it', async (t) => {
  for (const text of ['many', '0x10', '1_000', '4${N}', '${N} ', 'Infinity']) {
    t.same(
      yamlProblems('homeostasis: {recall_max_tokens: "${X}"}', { X: text }),
      ['homeostasis.recall_max_tokens: found a text (not shown), allowed is an integer of at least 1'], text,
    )
  }
  t.same(
    yamlProblems('homeostasis: {recall_max_tokens: "1${N}"}', { N: '2' }),
    ['homeostasis.recall_max_tokens: found a text (not shown), allowed is an integer of at least 1'],
    'a reference among other text',
  )
  t.same(
    yamlProblems('homeostasis: {recall_max_tokens: "42"}'),
    ['homeostasis.recall_max_tokens: found a text (not shown), allowed is an integer of at least 1'],
    'no reference at all',
  )
  t.same(
    yamlProblems('access_control: {enabled: "${B}"}', { B: 'yes' }),
    ['access_control.enabled: found a text (not shown), allowed are true, false'],
  )
  t.same(
    yamlProblems('access_control: {default_policy: "${P}"}', { P: 'owner' }),
    ['access_control.default_policy: found a text (not shown), allowed are "owner_only", "open", "deny"'],
    'nor hinting at it',
  )
  t.same(
    yamlProblems('homeostasis: {recall_max_tokens: "${N}"}', { N: '0' }),
    ['homeostasis.recall_max_tokens: found a number (not shown), allowed is an integer of at least 1'],
  )
})

await t.test('a reference finds the file form of a secret', async (t) => {
  const yaml = 'vector_store_config: {dsn: "${DATABASE_URL}", pass: "${PASS}"}'
  const files = { '/d': 'postgres://db\n', '/p': 'pw\n' }
  t.same(loadYaml(yaml, { DATABASE_URL_FILE: '/d', PASS_FILE: '/p' }, files).file.vector_store_config, {
    dsn: 'postgres://db', pass: 'pw',
  })
  t.same(
    yamlProblems('vector_store: ${PASS}', { PASS_FILE: '/gone' }),
    ['vector_store: ${PASS} cannot be replaced, PASS_FILE: found a path that cannot be read (no such file), allowed ' +
      'is a file that holds the value'],
  )
})
