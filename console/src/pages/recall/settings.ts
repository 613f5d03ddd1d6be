import { parseMetadata } from '../../text/metadata.js'
import type { StateChoice } from '../../text/state-choice.js'

export const STRATEGIES = ['default', 'lexical', 'semantic', 'both'] as const
export type StrategyChoice = typeof STRATEGIES[number]
export const TRUSTS = ['suspect', 'untrusted', 'trusted'] as const

/** All settings of a recall, as in the form. An empty text means the default of the server. */
export interface Settings {
  strategies: StrategyChoice
  maxResults: string
  maxTokens: string
  minScore: string
  speakers: string[]
  tags: string[]
  tagsMatch: 'any' | 'all'
  metadata: string
  occurredAfter: string
  occurredBefore: string
  state: StateChoice
  validAt: string
  asOf: string
  referenceTime: string
  minTrust: typeof TRUSTS[number] | ''
  rewrite: boolean
  modelRerank: boolean
}

export const DEFAULTS: Settings = {
  strategies: 'default',
  maxResults: '10',
  maxTokens: '',
  minScore: '',
  speakers: [],
  tags: [],
  tagsMatch: 'any',
  metadata: '',
  occurredAfter: '',
  occurredBefore: '',
  state: '',
  validAt: '',
  asOf: '',
  referenceTime: '',
  minTrust: '',
  rewrite: false,
  modelRerank: false,
}

/** The limits and filters of a recall and of its explanation. */
function commonFields (settings: Settings) {
  const { speakers, tags, tagsMatch, occurredAfter, occurredBefore, asOf, referenceTime, minTrust } = settings
  const { maxResults, maxTokens, minScore, state, validAt } = settings
  const { value: metadata } = parseMetadata(settings.metadata)
  return {
    ...(maxResults !== '' && { max_results: Number(maxResults) }),
    ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
    ...(minScore !== '' && { min_score: Number(minScore) }),
    ...(speakers.length > 0 && { speakers }),
    ...(tags.length > 0 && { tags, tags_match: tagsMatch }),
    ...(metadata !== undefined && { metadata }),
    ...(occurredAfter !== '' && { occurred_after: occurredAfter }),
    ...(occurredBefore !== '' && { occurred_before: occurredBefore }),
    ...(state !== '' && { state }),
    ...(validAt !== '' && { valid_at: validAt }),
    ...(asOf !== '' && { as_of: asOf }),
    ...(referenceTime !== '' && { reference_time: referenceTime }),
    ...(minTrust !== '' && { min_trust: minTrust }),
  }
}

export function recallRequest (banks: readonly string[], query: string, settings: Settings) {
  const { strategies, rewrite, modelRerank } = settings
  const [bank = ''] = banks
  const selected: Array<'lexical' | 'semantic'> = strategies === 'both' || strategies === 'default'
    ? ['lexical', 'semantic']
    : [strategies]
  return {
    query,
    ...(banks.length > 1 ? { banks: [...banks] } : { bank_id: bank }),
    explain: true,
    ...commonFields(settings),
    ...(strategies !== 'default' && { strategies: selected }),
    ...(rewrite && { rewrite }),
    ...(modelRerank && { model_rerank: modelRerank }),
  }
}

export function explainRequest (bank: string, query: string, expect: string, settings: Settings) {
  return { query, bank_id: bank, expect, ...commonFields(settings) }
}

/** The settings that an explanation does not support, so that it may differ from the recall. */
export function unsupportedByExplain ({ strategies, rewrite, modelRerank }: Settings): string[] {
  return [
    ...(strategies === 'default' ? [] : ['the choice of words or meaning']),
    ...(rewrite ? ['other wordings'] : []),
    ...(modelRerank ? ['reranking by the language model'] : []),
  ]
}
