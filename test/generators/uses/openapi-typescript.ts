/* Uses of what openapi-typescript makes that compile, and such that must not. Nothing here is run. */
import type { components, paths } from './generated.js'

type Schemas = components['schemas']
type Post<Path extends keyof paths> = NonNullable<paths[Path]['post']>
type Body<Path extends keyof paths> =
  Post<Path> extends { requestBody: { content: { 'application/json': infer Sent } } } ? Sent : never
type Answer<Path extends keyof paths> =
  Post<Path> extends { responses: { 200: { content: { 'application/json': infer Given } } } } ? Given : never

declare function post<Path extends keyof paths> (path: Path, body: Body<Path>): Promise<Answer<Path>>

export async function rightUses (event: Schemas['ReflectEvent'], error: Schemas['Error']): Promise<unknown[]> {
  const { hits } = await post('/v1/recall', { query: 'tea', bank_id: 'a', tags_match: 'all', min_trust: 'trusted' })
  await post('/v1/recall', { query: 'tea', banks: ['a', 'b'] })
  await post('/v1/forget', { bank_id: 'a', tags: ['x'], tags_match: 'any' })
  const { memory_id: id } = await post('/v1/retain', { bank_id: 'a', content: 'x', metadata: { turn: 1, by: null } })
  const hit: Schemas['Hit'] | undefined = hits[0]
  const memory: Schemas['Memory'] | undefined = hit
  if (event.event === 'delta') return [event.data.text]
  if (event.event === 'done') return [event.data.abstained]
  if (event.event === 'error') return [event.data.code === 'rate_limited']
  return [id, memory?.occurred_at?.length, error.code === 'access_denied']
}

export async function wrongUses (event: Schemas['ReflectEvent'], error: Schemas['Error']): Promise<void> {
  // @ts-expect-error -- neither bank_id nor banks
  await post('/v1/recall', { query: 'tea' })
  // @ts-expect-error -- both
  await post('/v1/recall', { query: 'tea', bank_id: 'a', banks: ['b'] })
  // @ts-expect-error -- neither
  await post('/v1/reflect', { query: 'tea' })
  // @ts-expect-error -- both
  await post('/v1/reflect', { query: 'tea', bank_id: 'a', banks: ['b'] })
  // @ts-expect-error -- nothing that is to be forgotten
  await post('/v1/forget', { bank_id: 'a' })
  // @ts-expect-error -- tags_match goes with tags
  await post('/v1/forget', { bank_id: 'a', scope: 'all', tags_match: 'all' })
  // @ts-expect-error -- no such choice
  await post('/v1/recall', { query: 'tea', bank_id: 'a', tags_match: 'some' })
  // @ts-expect-error -- a name that is not the gateway's
  await post('/v1/retain', { bankId: 'a', content: 'x' })
  // @ts-expect-error -- no such code
  if (error.code === 'no_such_code') return
  // @ts-expect-error -- this event may have no text
  event.data.text.trim()
}
