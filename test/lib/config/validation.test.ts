import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

const webhook = (auth: string) => `sources: {s: {type: webhook, target_bank: b, auth: ${auth}}}`

await t.test('each problem is one sentence with the path, the value and the rule', async (t) => {
  const cases: Record<string, string> = {
    'access_control: {default_policy: owner}': 'access_control.default_policy: found "owner", allowed are ' +
      '"owner_only", "open", "deny"; did you mean "owner_only"?',
    'access_control: {default_policy: zzz}': 'access_control.default_policy: found "zzz", allowed are "owner_only", ' +
      '"open", "deny"',
    'access_control: {enabled: yes}': 'access_control.enabled: found "yes", allowed are true, false',
    'access_control: {owner_patterns: ["{tenant}-{id}"]}': 'access_control.owner_patterns[0]: found "{tenant}-{id}", ' +
      'allowed is a text with {id} in it, a character between {type} and {id}, and no placeholder but these two',
    'access_control: {owner_patterns: ["{id}", "{type}"]}': 'access_control.owner_patterns[1]: found "{type}", ' +
      'allowed is a text with {id} in it, a character between {type} and {id}, and no placeholder but these two',
    'access_control: {owner_patterns: ["{{id}}"]}': 'access_control.owner_patterns[0]: found "{{id}}", allowed is a ' +
      'text with {id} in it, a character between {type} and {id}, and no placeholder but these two',
    'access_control: {owner_patterns: ["{type}{id}"]}': 'access_control.owner_patterns[0]: found "{type}{id}", ' +
      'allowed is a text with {id} in it, a character between {type} and {id}, and no placeholder but these two',
    'homeostasis: {recal_max_tokens: 5}': 'homeostasis.recal_max_tokens is not a known key; did you mean ' +
      '"recall_max_tokens"?',
    'homeostasis: {rate_limits: {zzz: 1}}': 'homeostasis.rate_limits.zzz is not a known key, allowed are ' +
      '"retain_per_minute", "recall_per_minute", "reflect_per_minute", "forget_per_minute", "import_per_minute", ' +
      '"global_per_minute"',
    'homeostasis: {recall_max_tokens: 0}': 'homeostasis.recall_max_tokens: found 0, allowed is an integer ' +
      'of at least 1',
    'homeostasis: {recall_max_tokens: 1.5}': 'homeostasis.recall_max_tokens: found 1.5, allowed is an integer ' +
      'of at least 1',
    'homeostasis: {rate_limits: {recall_per_minute: 1000001}}': 'homeostasis.rate_limits.recall_per_minute: found ' +
      '1000001, allowed is an integer from 1 to 1000000',
    'homeostasis: []': 'homeostasis: found an empty list, allowed is a map',
    'retrieval: {bm25: {b: .nan}}': 'retrieval.bm25.b: found NaN, allowed is a number from 0 to 1',
    'barriers: {metadata: {blocked_keys: [""]}}': 'barriers.metadata.blocked_keys[0]: found a text (not shown), ' +
      'allowed is a text of 1 to 256 characters',
    'access_grants: [{bank_id: "a*b", principal: x, permissions: [read]}]': 'access_grants[0].bank_id: found "a*b", ' +
      'allowed is a text without spaces, with * only as the last character',
    'access_grants: [{bank_id: a, principal: x, permissions: []}]': 'access_grants[0].permissions: found an empty ' +
      'list, allowed is a list that is not empty',
    'access_grants: [{bank_id: a, principal: x, permissions: [reed]}]': 'access_grants[0].permissions[0]: found ' +
      '"reed", allowed are "read", "write", "forget", "admin", "*"; did you mean "read"?',
    'access_grants: [{bank_id: a, principal: x, permissions: }]': 'access_grants[0].permissions: found nothing, ' +
      'allowed is a list that is not empty',
    'access_grants: [{bank_id: a, permissions: [read]}]': 'access_grants[0].principal is missing',
    'access_grants: {bank_id: a}': 'access_grants: found a map, allowed is a list',
    'banks: {"a b": {}}': 'banks: found the key "a b", allowed is a bank id of letters, digits and ._:@-, at most ' +
      '255 characters, the first a letter or digit; one trailing * makes it a pattern',
    'banks: {"a.b": {acess: []}}': 'banks["a.b"].acess is not a known key; did you mean "access"?',
    'sources: {"a/b": {}}': 'sources: found the key "a/b", allowed is a source id of letters, digits and ._-, at ' +
      'most 128 characters, the first a letter or digit',
    'vector_store_config: hunter2': 'vector_store_config: found a text (not shown), allowed is a map',
    'vectorstore: in_memory': 'vectorstore is not a known key; did you mean "vector_store"?',
    'signal_quality: {dedup: {action: skp}}': 'signal_quality.dedup.action: found "skp", allowed are "off", "skip", ' +
      '"warn", "update"; did you mean "skip"?',
    'banks: {a: {signal_quality: {dedup: {threshold: 2}}}}': 'banks.a.signal_quality.dedup.threshold: found 2, ' +
      'allowed is a number from 0 to 1',
    'limits_store: {type: redis}': 'limits_store.url: is required with type: redis',
    'limits_store: {type: redis, url: "http://user:hunter2@host"}': 'limits_store.url: must be a URI like ' +
      'redis://user:password@host:6379/0 (the value is not shown)',
    'rerankers: cohere': 'rerankers is not a known key; did you mean "reranker"?',
    'reranker_config: hunter2': 'reranker_config: found a text (not shown), allowed is a map',
    'observability: {}': 'observability is not a known key, allowed are "vector_store", "vector_store_config", ' +
      '"llm_provider", "llm_provider_config", "embedding_provider", "embedding_provider_config", "reranker", ' +
      '"reranker_config", "access_control", "access_grants", "banks", "profiles", "identity", ' +
      '"bounds", "mcp", "console", "homeostasis", "limits_store", "barriers", "signal_quality", "retrieval", ' +
      '"reflect", "extraction", "escalation", "prices", "sources"',
  }
  for (const [yaml, sentence] of Object.entries(cases)) t.same(yamlProblems(yaml), [sentence], yaml)
})

await t.test('the auth of a source is checked by the rules of its type alone', async (t) => {
  const cases: Record<string, string[]> = {
    '{type: hmac}': ['sources.s.auth.secret is missing'],
    '{type: hmac, secret: ""}': ['sources.s.auth.secret: found a text (not shown), allowed is a text that ' +
      'is not empty'],
    '{type: hmac, secret: 12345}': ['sources.s.auth.secret: found a number (not shown), allowed is a text that ' +
      'is not empty'],
    '{type: hmac, secret: s, headers: X-Sig}': ['sources.s.auth.headers is not a known key; did you mean "header"?'],
    '{type: hmac, secret: s, header: "X Sig"}': ['sources.s.auth.header: found "X Sig", allowed is a text of ' +
      'letters, digits and -'],
    '{type: none, secret: s}': ['sources.s.auth.secret is not a known key, allowed is "type"'],
    '{type: hmca, secret: s}': ['sources.s.auth.type: found "hmca", allowed are "none", "hmac"; did you mean "hmac"?'],
    '{type: 5}': ['sources.s.auth.type: found 5, allowed are "none", "hmac"'],
    '{secret: s}': ['sources.s.auth.type is missing, allowed are "none", "hmac"'],
    '{}': ['sources.s.auth.type is missing, allowed are "none", "hmac"'],
    none: ['sources.s.auth: found a text (not shown), allowed is a map with the key type, one of "none", "hmac"'],
    null: ['sources.s.auth: found nothing, allowed is a map with the key type, one of "none", "hmac"'],
  }
  for (const [auth, sentences] of Object.entries(cases)) t.same(yamlProblems(webhook(auth)), sentences, auth)
})

await t.test('the problems of two sources are reported separately', async (t) => {
  const yaml = 'sources:\n  a: {type: webhook, target_bank: b, auth: {type: none, x: 1}}\n  ab: {type: webhoo, ' +
    'target_bank: "-", auth: {type: hmac}}'
  t.same(yamlProblems(yaml).sort(), [
    'sources.a.auth.x is not a known key, allowed is "type"',
    'sources.ab.auth.secret is missing',
    'sources.ab.target_bank: found "-", allowed is a bank id of letters, digits and ._:@-, at most 255 characters, ' +
      'the first a letter or digit',
    'sources.ab.type: found "webhoo", allowed is "webhook"; did you mean "webhook"?',
  ])
})

await t.test('a source may belong to any tenant that a token can name', async (t) => {
  const withTenant = (tenant: unknown) => (
    `sources: {s: {type: webhook, target_bank: b, tenant_id: ${JSON.stringify(tenant)}, auth: {type: none}}}`
  )
  for (const good of ['acme', '42', 'Acme Corp', 'ä'.repeat(256)]) t.same(yamlProblems(withTenant(good)), [], good)
  for (const bad of ['', ' ', 'a\nb', 'a\u0000', 'a'.repeat(257), 42, null]) {
    t.match(yamlProblems(withTenant(bad)), [/^sources.s.tenant_id: /], JSON.stringify(bad))
  }
})

await t.test('a source may retain as any valid principal', async (t) => {
  const withPrincipal = (principal: string) => (
    `sources: {s: {type: webhook, target_bank: b, principal: ${JSON.stringify(principal)}, auth: {type: none}}}`
  )
  for (const good of ['service:tickets', 'a', 'ä'.repeat(256)]) t.same(yamlProblems(withPrincipal(good)), [], good)
  for (const bad of ['', 'a b', 'a\u200b', 'a'.repeat(257)]) {
    t.match(yamlProblems(withPrincipal(bad)), [/^sources.s.principal: /], JSON.stringify(bad))
  }
})

await t.test('owner patterns may use type and id as often as they like', async (t) => {
  const patterns = ['{id}', '{type}-{id}', '{id}.{type}.{id}', 'x{type}{type}.{id}y']
  t.same(
    loadYaml('access_control: {enabled: true, owner_patterns: ' +
      `${JSON.stringify(patterns)}}`).file.access_control?.owner_patterns,
    patterns,
  )
})

await t.test('a value is shown as it is, and not coerced, completed or dropped', async (t) => {
  const yaml = 'vector_store_config: {a: "1", b: 1, c: null, d: [~, {}], e: yes, f: 0o17}\nbanks: {"*": {}, "a*": ' +
    '{access: [{principal: "user:*", permissions: ["*"]}]}}'
  t.same(loadYaml(yaml).file, {
    vector_store_config: { a: '1', b: 1, c: null, d: [null, {}], e: 'yes', f: 15 },
    banks: { '*': {}, 'a*': { access: [{ principal: 'user:*', permissions: ['*'] }] } },
  })
})

await t.test('a principal of a grant is one that a caller can have', async (t) => {
  const grant = '{bank_id: b, principal: "user:\\a", permissions: [read]}'
  const own = '{principal: "user:\\a", permissions: [read]}'
  const rule = 'allowed are 1 to 256 visible characters without spaces, with * only as the last character'
  t.same(yamlProblems(`access_grants: [${grant}]\nbanks: {team: {access: [${own}]}}\n` +
    `identity: {trust: [{principal: ${'x'.repeat(257)}, trust: trusted}]}`), [
    `access_grants[0].principal: ${rule}`,
    `identity.trust[0].principal: ${rule}`,
    `banks.team.access[0].principal: ${rule}`,
  ])
})

await t.test('the time and the signature of an event have two headers', async (t) => {
  const problem = 'sources.s.auth.timestamp_header: is also the header of the signature, so no event could be accepted'
  t.same(yamlProblems(webhook('{type: hmac, secret: x, header: X-Sent, timestamp_header: x-sent}')), [problem])
  t.same(yamlProblems(webhook('{type: hmac, secret: x, timestamp_header: x-signature-256}')), [problem])
  t.ok(loadYaml(webhook('{type: hmac, secret: x, timestamp_header: X-Sent}')))
})
