/** A number among the limits of a bank, with its path in the configuration. */
export interface Limit { path: string, label: string, hint?: string, min?: number }

/** The limits that the form has, in groups. The configuration has more settings, which the API alone changes. */
export const LIMIT_GROUPS: ReadonlyArray<{ title: string, limits: readonly Limit[] }> = [
  {
    title: 'Size',
    limits: [
      { path: 'homeostasis.recall_max_tokens', label: 'Tokens of a recall', hint: 'Of all memories found together.' },
      { path: 'homeostasis.reflect_max_tokens', label: 'Tokens of an answer', hint: 'Of the text that is written.' },
      { path: 'homeostasis.retain_max_content_bytes', label: 'Bytes of a memory', hint: 'Of its text.' },
      { path: 'barriers.validation.max_content_length', label: 'Characters of a memory', hint: 'Of its text.' },
      {
        path: 'barriers.metadata.max_metadata_size_bytes', label: 'Bytes of metadata', hint: 'As JSON.', min: 2,
      },
    ],
  },
  {
    title: 'Per minute, for each principal',
    limits: [
      { path: 'homeostasis.rate_limits.retain_per_minute', label: 'Memories stored' },
      { path: 'homeostasis.rate_limits.recall_per_minute', label: 'Recalls' },
      { path: 'homeostasis.rate_limits.reflect_per_minute', label: 'Questions' },
      { path: 'homeostasis.rate_limits.forget_per_minute', label: 'Deletions' },
      { path: 'homeostasis.rate_limits.import_per_minute', label: 'Memories imported' },
      { path: 'homeostasis.rate_limits.global_per_minute', label: 'All of these together' },
    ],
  },
  {
    title: 'Per day (UTC), for the whole bank',
    limits: [
      { path: 'homeostasis.quotas.retain_per_day', label: 'Memories stored a day' },
      { path: 'homeostasis.quotas.import_per_day', label: 'Memories imported a day' },
      { path: 'homeostasis.quotas.reflect_per_day', label: 'Questions a day' },
      { path: 'homeostasis.quotas.model_calls_per_day', label: 'Calls of the model a day' },
      { path: 'homeostasis.quotas.model_tokens_per_day', label: 'Tokens of the model a day' },
    ],
  },
  {
    title: 'Answers to questions',
    limits: [
      { path: 'reflect.max_evidence', label: 'Memories to look at', hint: 'For one answer.' },
      { path: 'reflect.max_evidence_tokens', label: 'Tokens to look at', hint: 'Of these memories together.' },
      { path: 'reflect.timeout_ms', label: 'Milliseconds', hint: 'Until an answer is given up.', min: 100 },
    ],
  },
]

export const LIMITS: readonly Limit[] = LIMIT_GROUPS.flatMap(({ limits }) => limits)
