import type { ExplainAnswer } from '../../lib/operations/schemas.js'
import type { TestApp } from '../helpers/app.js'

/** An id that no memory has. */
export const NOBODY = '01936f0e-7b3c-7a10-8d2f-ffffffffffff'

/** What an explained recall on `bank` tells, which has to succeed. */
export async function explain (
  { post }: TestApp, expect: string, query: string, more: Record<string, unknown> = {},
): Promise<ExplainAnswer> {
  const response = await post('/v1/recall/explain', { bank_id: 'bank', query, expect, ...more })
  if (response.statusCode !== 200) throw new Error(`explain answered ${response.statusCode}: ${response.body}`)
  return response.json<ExplainAnswer>()
}
