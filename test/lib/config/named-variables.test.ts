import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

const YAML = 'embedding_provider_config: {api_key_env: EMBEDDINGS_KEY}\nreranker_config: {api_key_env: RERANK_KEY}'

await t.test('providers see only the environment variables that their settings name', async (t) => {
  t.strictSame(loadYaml(YAML, { EMBEDDINGS_KEY: 'one', RERANK_KEY: 'two', OTHER: 'three' }).environment, {
    EMBEDDINGS_KEY: 'one', RERANK_KEY: 'two',
  })
  t.strictSame(loadYaml(YAML, { RERANK_KEY: 'two' }).environment, { RERANK_KEY: 'two' })
  t.equal(loadYaml(YAML).environment, undefined)
  const settings = 'embedding_provider_config: {api_key_env: 7, api_key: OTHER}'
  t.equal(loadYaml(settings, { OTHER: 'three' }).environment, undefined)
})

await t.test('the value of such a variable may come from a file', async (t) => {
  t.strictSame(
    loadYaml(YAML, { RERANK_KEY_FILE: '/run/key' }, { '/run/key': 'two\n' }).environment, { RERANK_KEY: 'two' },
  )
})

await t.test('such a variable that is set but empty is a problem', async (t) => {
  t.strictSame(yamlProblems(YAML, { RERANK_KEY: ' ' }), ['RERANK_KEY is set but empty; unset it or give it a value'])
  t.strictSame(
    yamlProblems(YAML, { RERANK_KEY: 'a', RERANK_KEY_FILE: '/run/key' }, { '/run/key': 'b' }),
    ['RERANK_KEY and RERANK_KEY_FILE are both set; set one of them'],
  )
})

await t.test('the environment of providers is frozen', async (t) => {
  t.ok(Object.isFrozen(loadYaml(YAML, { RERANK_KEY: 'two' }).environment))
})
