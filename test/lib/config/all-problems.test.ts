import t from 'tap'
import { checkedConfig } from '../../../cli/config/check.js'
import { ConfigurationError } from '../../../lib/config/problems.js'

/** The problems of a configuration file, and of the environment. */
function problemsOf (yaml: string, environment: NodeJS.ProcessEnv = {}): string[] {
  const readFile = () => yaml
  try {
    checkedConfig({ SERVICES_CONFIG_PATH: 'gateway.yaml', ...environment }, { readFile, cwd: '/' })
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
}

t.test('problems that the schema cannot express are reported together with those of the schema', (t) => {
  t.match(problemsOf(`
vector_store: postgres
llm_provider: openai_compatible
llm_provider_config: {model: m, api_key_env: NOPE}
reflect: {max_evidence: 0}
banks: {home: {profile: absent}}
`, { SERVICES_PORT: 'x' }), [
    /^SERVICES_PORT/, /^reflect\.max_evidence/, /^banks\.home\.profile: found "absent"/,
    /^vector_store: postgres needs a connection URI/, /^llm_provider_config\.base_url: is required/,
  ])
  t.match(problemsOf('nope: 1\nvector_store: zzz'), [/^nope is not a known key/, /^vector_store: found "zzz"/])
  t.end()
})

t.test('no problem is reported that may be the consequence of another', (t) => {
  for (const [yaml, ...found] of [
    ['vector_stor: pglite\nvector_store_config: {data_dir: ./data}', /^vector_stor is not a known key/],
    ['vector_store: pglite\nvector_store_confg: {data_dir: ./data}', /^vector_store_confg is not a known key/],
    ['nope: 1\nvector_store_config: {data_dir: ./data}', /^nope is not/],
    ['profiles: {a: {nope: 1}}\nbanks: {home: {profile: b}}', /^profiles\.a\.nope is not a known key/],
    ['reranker: 5\nretrieval: {rerank: {weight: 1}}', /^reranker: found 5/],
    ['llm_provider: 5\nprices: {m: {input: 1, output: 1}}', /^llm_provider: found 5/],
  ] as Array<[string, RegExp]>) {
    const problems = problemsOf(yaml)
    t.equal(problems.length, found.length, problems.join('; '))
    t.match(problems, found)
  }
  t.end()
})
