/** A configuration file that uses most sections; docs/configuration.md shows it and a test loads it. */
export const EXAMPLE = `\
vector_store: in_memory
llm_provider: mock
embedding_provider: mock

access_control:
  enabled: true
  default_policy: owner_only          # user:ada owns the bank user-ada

access_grants:
  - bank_id: team-*
    principal: user:*
    permissions: [read, write]

banks:
  team-archive:
    access:
      - principal: agent:archivist
        permissions: ['*']
    homeostasis:
      rate_limits:
        retain_per_minute: 10

homeostasis:
  recall_max_tokens: 4000
  rate_limits:
    global_per_minute: 600
  quotas:
    retain_per_day: 10000

barriers:
  metadata:
    blocked_keys: [password, ssn]

sources:
  tickets:
    type: webhook
    target_bank: team-tickets
    content_path: /issue/body
    auth:
      type: hmac
      secret: \${TICKETS_WEBHOOK_SECRET}
`
