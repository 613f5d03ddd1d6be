import t from 'tap'
import type { Environment } from '../../../lib/config/environment.js'
import { loadYaml, yamlProblems } from './load-with.js'

const LLM = 'llm_provider: openai_compatible\nllm_provider_config: {base_url: "http://127.0.0.1/v1", model: ' +
  'some-model}\n'
const NOT_FOR_MOCK = 'escalation: llm_provider is mock, which cannot fail, so nothing uses this section; set ' +
  'llm_provider, or remove the section'
const enabled = (section: string, key: string) => (
  `${section}.${key}: it has no effect because ${section}.enabled is not set; set that to true, or to false to keep ` +
    'it for later'
)

const refused: Record<string, { yaml: string, env?: Environment, problems: string[] }> = {
  'rerank without a reranker': {
    yaml: 'retrieval: {rerank: {candidates: 5}}',
    problems: ['retrieval.rerank: it has no effect without a reranker; set reranker'],
  },
  'details of a Redis that does not count': {
    yaml: 'limits_store: {when_down: refuse, timeout_ms: 50}',
    problems: ['when_down', 'timeout_ms'].map((key) => (
      `limits_store.${key}: it has no effect without type: redis; set that`
    )),
  },
  'a degraded mode of the mock': { yaml: 'escalation: {degraded_mode: extractive}', problems: [NOT_FOR_MOCK] },
  'a circuit of the mock, named': {
    yaml: 'llm_provider: mock\nescalation: {circuit_breaker: {failure_threshold: 3}}', problems: [NOT_FOR_MOCK],
  },
  'prices of the mock': {
    yaml: 'prices: {gpt-x: {input: 1, output: 2}}',
    problems: ['prices: llm_provider is mock, which costs nothing, so nothing uses them; set llm_provider'],
  },
  'prices of other models alone': {
    yaml: `${LLM}prices: {somemodel: {input: 1, output: 2}}`,
    problems: ['prices: there is no entry for the configured model, "some-model" (llm_provider_config.model)'],
  },
  'details of rewriting that no request may use': {
    yaml: `${LLM}retrieval: {rewrite: {max_queries: 2, timeout_ms: 10}}`,
    problems: [enabled('retrieval.rewrite', 'max_queries'), enabled('retrieval.rewrite', 'timeout_ms')],
  },
  'details of reranking by the model that no request may use': {
    yaml: `${LLM}retrieval: {model_rerank: {weight: 0.5}}`, problems: [enabled('retrieval.model_rerank', 'weight')],
  },
  'helpers that the mock cannot be': {
    yaml: 'retrieval: {rewrite: {enabled: true}, model_rerank: {enabled: true}}',
    problems: ['rewrite', 'model_rerank'].map((section) => (
      `retrieval.${section}.enabled: llm_provider is mock, which does not support it; set llm_provider`
    )),
  },
  'a time for an embedding that is never asked for': {
    yaml: 'embedding_provider: mock\nretrieval: {semantic_timeout_ms: 10}',
    problems: ['retrieval.semantic_timeout_ms: embedding_provider is mock, whose vectors are not searched; set ' +
      'embedding_provider'],
  },
  'a time for an embedding, of a bank and of a profile': {
    yaml: 'embedding_provider: mock\nbanks: {home: {retrieval: {semantic_timeout_ms: 10}}}\n' +
      'profiles: {fast: {retrieval: {semantic_timeout_ms: 10}}}',
    problems: ['banks.home', 'profiles.fast'].map((at) => (
      `${at}.retrieval.semantic_timeout_ms: embedding_provider is mock, whose vectors are not searched; set ` +
        'embedding_provider'
    )),
  },
  'a policy that is not enforced': {
    yaml: 'access_control: {default_policy: deny, owner_patterns: ["{id}"]}',
    problems: [enabled('access_control', 'default_policy'), enabled('access_control', 'owner_patterns')],
  },
  'a connection URI with pglite': {
    yaml: 'vector_store: pglite\nvector_store_config: {data_dir: x}',
    env: { DATABASE_URL: 'postgres://user:Zq-secret@db/x' },
    problems: ['DATABASE_URL is set and vector_store is pglite, which keeps memories in vector_store_config.data_dir ' +
      'and uses no connection URI; unset it, or set vector_store: postgres'],
  },
}
for (const [what, { yaml, env, problems }] of Object.entries(refused)) {
  await t.test(`a setting that nothing uses ends the start: ${what}`, async (t) => {
    const found = yamlProblems(yaml, env)
    t.same(found, problems)
    t.notMatch(found.join(), 'Zq-secret')
  })
}

await t.test('with pglite the other name of the connection URI ends the start too', async (t) => {
  t.match(yamlProblems('vector_store: pglite', { SERVICES_PG_DSN: 'postgres://db/x' }), [/^SERVICES_PG_DSN is set/])
})

const used: Record<string, string> = {
  'rerank with a reranker': 'reranker: rerank_endpoint\nretrieval: {rerank: {candidates: 5}}',
  'escalation with a model': `${LLM}escalation: {degraded_mode: extractive, circuit_breaker: {failure_threshold: 3}}`,
  'escalation with a class': 'llm_provider: ./m.mjs:Model\nescalation: {degraded_mode: extractive}\nprices: {any: ' +
    '{input: 1, output: 1}}',
  'a price list with the model in it': `${LLM}prices: {some-model: {input: 1, output: 2}, another: {input: 1, ` +
    'output: 2}}',
  'a price of the mock, which usage.cost tells': 'prices: {mock: {input: 1, output: 1}}',
  'helpers of recall': `${LLM}retrieval: {rewrite: {enabled: true, max_queries: 2}, model_rerank: {enabled: true, ` +
    'weight: 0.5}}',
  'what is switched off on purpose': 'retrieval: {rewrite: {enabled: false, max_queries: 2}, model_rerank: {enabled: ' +
    'false, weight: 1}, weights: {semantic: 0}}\naccess_control: {enabled: false, default_policy: deny}',
  'a time for the mock\'s vectors when they are searched': 'retrieval: {semantic_timeout_ms: 10, weights: ' +
    '{semantic: 1}}\nbanks: {home: {retrieval: {semantic_timeout_ms: 9}}}',
  'a bound of batches up to that of all bodies': 'bounds: {batch_bytes: 10485760, import_bytes: 20971520}',
  'empty sections': 'retrieval: {rerank: {}, rewrite: {}}\nescalation: {circuit_breaker: {}}\nprices: ' +
    '{}\naccess_control: {}',
}
for (const [what, yaml] of Object.entries(used)) {
  await t.test(`a setting that has an effect is accepted: ${what}`, async (t) => {
    t.doesNotThrow(() => loadYaml(yaml))
  })
}
