import type { FileConfig } from '../../lib/config/schema.js'
import type { TestApp } from '../helpers/app.js'

/** Values of `signal_quality.dedup.action`. */
type Action = 'off' | 'skip' | 'warn' | 'update'

/** The answer to a retain. */
export interface Answer {
  stored: boolean
  memory_id: string
  chunk_count: number
  deduplicated: boolean
  updated?: boolean
  near_duplicate?: { memory_id: string, similarity: number }
}

export const TEXT = 'Alice drinks a cup of green tea with honey every morning before work'
/** A near-duplicate of TEXT, with one more word. */
export const NEAR_DUPLICATE = 'Alice drinks a cup of green tea with honey every morning before work begins'

/** A configuration with this action, and a threshold unless it has the default. */
export function dedupConfig (action: Action, threshold?: number): FileConfig {
  return { signal_quality: { dedup: { action, ...(threshold !== undefined && { threshold }) } } }
}

/** The texts of a bank, sorted. */
export async function textsOf ({ get }: TestApp, bank = 'home'): Promise<string[]> {
  return (await get(`/v1/banks/${bank}/memories`)).json<{
    memories: Array<{ text: string }>
  }>().memories.map(({ text }) => text).sort()
}

/** Retains a content in the bank `home`, with further fields. */
export async function retain (
  { post }: TestApp, content: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await post('/v1/retain', { bank_id: 'home', content, ...more }, headers)
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json<Answer>()
}

/** Retains a batch in the bank `home`. */
export async function retainBatch (
  { post }: TestApp, contents: Array<string | Record<string, unknown>>, headers: Record<string, string> = {},
): Promise<Answer[]> {
  const items = contents.map((item) => typeof item === 'string' ? { content: item } : item)
  return (await post('/v1/retain/batch', { bank_id: 'home', items }, headers)).json<{ results: Answer[] }>().results
}
