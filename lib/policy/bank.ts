import type { BankSections } from '../config/schema.js'
import type { BankKey } from '../identity/context.js'

type Limit = number | undefined

/** The limits of an item in retain and import. */
export interface ContentChecks {
  /** Code points of the trimmed content. */
  maxCharacters: number
  /** Bytes of the content as UTF-8; undefined: no limit. */
  maxBytes: number | undefined
  /** Keys that are removed, compared without regard to case. */
  blockedMetadataKeys: readonly string[]
  /** Bytes of one metadata map as JSON. */
  maxMetadataBytes: number
}

/** The limits of a bank. An undefined limit, or group of limits, means none. */
export interface BankPolicy {
  /** Operations a minute, for each principal; `global` counts all of them together. */
  rateLimits: Readonly<Record<'retain' | 'recall' | 'reflect' | 'forget' | 'import' | 'global', Limit>> | undefined
  /** Uses per UTC day. */
  quotas: Readonly<Record<'retain' | 'import' | 'reflect' | 'modelCalls' | 'modelTokens', Limit>> | undefined
  contentChecks: ContentChecks
}

/** A bank for one request: its identity, and its settings at that moment. */
export interface ResolvedBank {
  key: BankKey
  settings: BankPolicy
}

export function bankPolicy (
  { homeostasis, barriers: { validation, metadata } }: Pick<BankSections, 'homeostasis' | 'barriers'>,
): BankPolicy {
  const { rate_limits: rates, quotas } = homeostasis
  return {
    rateLimits: rates && {
      retain: rates.retain_per_minute,
      recall: rates.recall_per_minute,
      reflect: rates.reflect_per_minute,
      forget: rates.forget_per_minute,
      import: rates.import_per_minute,
      global: rates.global_per_minute,
    },
    quotas: quotas && {
      retain: quotas.retain_per_day,
      import: quotas.import_per_day,
      reflect: quotas.reflect_per_day,
      modelCalls: quotas.model_calls_per_day,
      modelTokens: quotas.model_tokens_per_day,
    },
    contentChecks: {
      maxCharacters: validation.max_content_length,
      maxBytes: homeostasis.retain_max_content_bytes,
      blockedMetadataKeys: metadata.blocked_keys,
      maxMetadataBytes: metadata.max_metadata_size_bytes,
    },
  }
}
