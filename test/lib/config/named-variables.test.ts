import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

const YAML = 'embedding_provider_config: {api_key_env: EMBEDDINGS_KEY}\nreranker_config: {api_key_env: RERANK_KEY}'

await t.test('of the environment providers see the variables that their settings name, and no others', async (t) => {
  t.strictSame(loadYaml(YAML, { EMBEDDINGS_KEY: 'one', RERANK_KEY: 'two', OTHER: 'three' }).environment, { EMBEDDINGS_KEY: 'one', RERANK_KEY: 'two' })
  t.strictSame(loadYaml(YAML, { RERANK_KEY: 'two' }).environment, { RERANK_KEY: 'two' })
  t.equal(loadYaml(YAML).environment, undefined)
  const settings = 'embedding_provider_config: {api_key_env: 7, api_key: OTHER}'
  t.equal(loadYaml(settings, { OTHER: 'three' }).environment, undefined)
})

await t.test('a file may hold the value', async (t) => {
  t.strictSame(loadYaml(YAML, { RERANK_KEY_FILE: '/run/key' }, { '/run/key': 'two\n' }).environment, { RERANK_KEY: 'two' })
})

await t.test('a variable that is there and says nothing is a problem', async (t) => {
  t.strictSame(yamlProblems(YAML, { RERANK_KEY: ' ' }), ['RERANK_KEY is set but empty; unset it or give it a value'])
  t.strictSame(yamlProblems(YAML, { RERANK_KEY: 'a', RERANK_KEY_FILE: '/run/key' }, { '/run/key': 'b' }), ['RERANK_KEY and RERANK_KEY_FILE are both set; set one of them'])
})

await t.test('it cannot be changed', async (t) => {
  t.ok(Object.isFrozen(loadYaml(YAML, { RERANK_KEY: 'two' }).environment))
})
