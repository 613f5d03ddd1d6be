import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

const LLM = 'llm_provider: openai_compatible\nllm_provider_config: {base_url: "http://127.0.0.1/v1", model: ' +
  'some-model}\n'
const noReranker = (at: string) => `${at}.retrieval.rerank: it has no effect without a reranker; set reranker`
const mock = (at: string, helper: string) => (
  `${at}.retrieval.${helper}.enabled: llm_provider is mock, which does not support it; set llm_provider`
)

const refused: Record<string, { yaml: string, problems: string[] }> = {
  'rerank of a bank without a reranker': {
    yaml: 'banks: {home: {retrieval: {rerank: {candidates: 5}}}}', problems: [noReranker('banks.home')],
  },
  'rerank of a pattern without a reranker': {
    yaml: 'banks: {"team-*": {retrieval: {rerank: {weight: 0.5}}}}', problems: [noReranker('banks.team-*')],
  },
  'rerank of a profile without a reranker': {
    yaml: 'profiles: {support: {retrieval: {rerank: {timeout_ms: 5}}}}', problems: [noReranker('profiles.support')],
  },
  'helpers of a bank that the mock cannot be': {
    yaml: 'banks: {home: {retrieval: {rewrite: {enabled: true}, model_rerank: {enabled: true}}}}',
    problems: [mock('banks.home', 'rewrite'), mock('banks.home', 'model_rerank')],
  },
  'a helper of a profile that the mock cannot be': {
    yaml: 'profiles: {support: {retrieval: {rewrite: {enabled: true}}}}',
    problems: [mock('profiles.support', 'rewrite')],
  },
  'several of them, with the mock by name': {
    yaml: 'llm_provider: mock\nbanks: {a: {retrieval: {rerank: {candidates: 5}}}, b: {retrieval: {rewrite: {enabled: ' +
      'true}}}}\nprofiles: {c: {retrieval: {model_rerank: {enabled: true}}}}',
    problems: [noReranker('banks.a'), mock('banks.b', 'rewrite'), mock('profiles.c', 'model_rerank')],
  },
}
for (const [what, { yaml, problems }] of Object.entries(refused)) {
  await t.test(`a setting that no bank can use ends the start: ${what}`, async (t) => {
    t.same(yamlProblems(yaml), problems)
  })
}

const used: Record<string, string> = {
  'rerank with a reranker': 'reranker: rerank_endpoint\nbanks: {home: {retrieval: {rerank: {candidates: ' +
    '5}}}}\nprofiles: {p: {retrieval: {rerank: {candidates: 5}}}}',
  'helpers with a model': `${LLM}banks: {home: {retrieval: {rewrite: {enabled: true}}}}\nprofiles: {p: {retrieval: ` +
    '{model_rerank: {enabled: true}}}}',
  'helpers that are switched off': 'banks: {home: {retrieval: {rewrite: {enabled: false}, model_rerank: ' +
    '{enabled: false}}}}',
  'empty sections': 'banks: {home: {retrieval: {rerank: {}, rewrite: {}}}}\nprofiles: {p: {}}',
}
for (const [what, yaml] of Object.entries(used)) {
  await t.test(`a setting that has an effect for a bank is accepted: ${what}`, async (t) => {
    t.doesNotThrow(() => loadYaml(yaml))
  })
}
