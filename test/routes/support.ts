import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { Hit, MemoryRecord } from '../../lib/operations/schemas.js'
import type { TestApp } from '../helpers/app.js'

/** Checks that an answer is this refusal, in the shape that every error has; `more` is what else must be in it. */
export function refused (
  t: Test, response: LightMyRequestResponse, status: number, code: string, more: Record<string, unknown> = {},
): void {
  t.match({ status: response.statusCode, ...response.json<Record<string, unknown>>() }, {
    status, code, detail: /\S/, request_id: response.headers['x-request-id'], ...more,
  })
}

/** Checks that an answer is 400 and names exactly these fields. */
export function refusedFields (t: Test, response: LightMyRequestResponse, ...fields: string[]): void {
  refused(t, response, 400, 'invalid_request')
  t.same(response.json<{ errors?: Array<{ field: string }> }>().errors?.map(({ field }) => field), fields)
}

/** The hits of a recall that has to succeed. */
export function hitsOf (response: LightMyRequestResponse): Hit[] {
  if (response.statusCode !== 200) throw new Error(`recall answered ${response.statusCode}: ${response.body}`)
  return response.json<{ hits: Hit[] }>().hits
}

export function textsOf (response: LightMyRequestResponse): string[] {
  return hitsOf(response).map((hit) => hit.text)
}

/** The header by which a caller of dev mode says who they are. */
export function as (principal: string): Record<string, string> {
  return { 'x-service-principal': principal }
}

/** Access control that lets `user:<permission>` do just that, `user:all` everything, and any other caller nothing. */
export const ONE_PERMISSION_EACH: FileConfig = {
  access_control: { enabled: true, default_policy: 'deny' },
  access_grants: [
    ...(['read', 'write', 'forget', 'admin'] as const).map(
      (permission) => ({ bank_id: 'team*', principal: `user:${permission}`, permissions: [permission] }),
    ),
    { bank_id: '*', principal: 'user:all', permissions: ['*'] },
  ],
}

/** A text of so many sentences, each with words of its own, that needs several passages. */
export function longText (sentences: number): string {
  return Array.from({ length: sentences }, (_, index) => (
    `Chapter ${index} tells how the lighthouse keeper number${index} repaired the lamp.`
  )).join(' ')
}

/** The texts of the memories of bank `b` with their trust, by text. */
export async function listed ({ get }: TestApp): Promise<Array<[text: string, trust: string]>> {
  const { memories } = (await get('/v1/banks/b/memories')).json<{ memories: MemoryRecord[] }>()
  return memories.map(({ text, trust }): [string, string] => [text, trust]).sort(([a], [b]) => a < b ? -1 : 1)
}
