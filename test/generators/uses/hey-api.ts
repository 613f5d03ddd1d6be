/* Uses of the client that @hey-api/openapi-ts makes that compile, and such that must not. Nothing here is run. */
import { forget, listMemories, recall, reflect, retain } from './generated/index.js'
import type { Hit, Memory, ReflectEvent } from './generated/index.js'

export async function rightUses (event: ReflectEvent): Promise<unknown[]> {
  const { data, error } = await recall({
    body: { query: 'tea', bank_id: 'a', tags_match: 'all', min_trust: 'trusted' },
  })
  await recall({ body: { query: 'tea', banks: ['a', 'b'] } })
  await forget({ body: { bank_id: 'a', tags: ['x'], tags_match: 'any' }, headers: { 'idempotency-key': 'k' } })
  const retained = await retain({
    body: { bank_id: 'a', content: 'x', metadata: { turn: 1, by: null } }, throwOnError: true,
  })
  const page = await listMemories({ path: { bank_id: 'a' }, query: { limit: 5 } })
  const memories: Memory[] = page.data?.memories ?? []
  const hit: Hit | undefined = data?.hits[0]
  const answer = await reflect({ body: { query: 'tea', bank_id: 'a' } })
  if (event.event === 'delta') return [event.data.text]
  if (event.event === 'error') return [event.data.code === 'rate_limited']
  return [hit, memories, retained.data.memory_id, error?.code === 'access_denied', answer.data?.answer]
}

export async function wrongUses (event: ReflectEvent): Promise<void> {
  // @ts-expect-error -- neither bank_id nor banks
  await recall({ body: { query: 'tea' } })
  // @ts-expect-error -- both
  await recall({ body: { query: 'tea', bank_id: 'a', banks: ['b'] } })
  // @ts-expect-error -- neither
  await reflect({ body: { query: 'tea' } })
  // @ts-expect-error -- both
  await reflect({ body: { query: 'tea', bank_id: 'a', banks: ['b'] } })
  // @ts-expect-error -- nothing that is to be forgotten
  await forget({ body: { bank_id: 'a' } })
  // @ts-expect-error -- tags_match goes with tags
  await forget({ body: { bank_id: 'a', scope: 'all', tags_match: 'all' } })
  // @ts-expect-error -- no such choice
  await recall({ body: { query: 'tea', bank_id: 'a', tags_match: 'some' } })
  // @ts-expect-error -- a name that is not the gateway's
  await retain({ body: { bankId: 'a', content: 'x' } })
  const { error } = await recall({ body: { query: 'tea', bank_id: 'a' } })
  // @ts-expect-error -- no such code
  if (error?.code === 'no_such_code') return
  // @ts-expect-error -- this event may have no text
  event.data.text.trim()
}
