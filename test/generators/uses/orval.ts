/* Uses of the client that orval makes that compile, and such that must not. Nothing here is run. */
import { forget, listMemories, recall, reflect, retain } from './generated/client.js'
import type { Hit, Memory, ReflectEvent } from './generated/client.schemas.js'

export async function rightUses (event: ReflectEvent): Promise<unknown[]> {
  const recalled = await recall({ query: 'tea', bank_id: 'a', tags_match: 'all', min_trust: 'trusted' })
  await recall({ query: 'tea', banks: ['a', 'b'] })
  await forget({ bank_id: 'a', tags: ['x'], tags_match: 'any' }, { headers: { 'idempotency-key': 'k' } })
  const retained = await retain({ bank_id: 'a', content: 'x', metadata: { turn: 1, by: null } })
  const page = await listMemories('a', { limit: 5 })
  const memories: Memory[] = page.status === 200 ? page.data.memories : []
  const hit: Hit | undefined = recalled.status === 200 ? recalled.data.hits[0] : undefined
  if (event.event === 'delta') return [event.data.text]
  if (event.event === 'error') return [event.data.code === 'rate_limited']
  const memoryId = retained.status === 200 && retained.data.memory_id
  return [hit, memories, memoryId, recalled.status === 403 && recalled.data.code]
}

export async function wrongUses (event: ReflectEvent): Promise<void> {
  // @ts-expect-error -- neither bank_id nor banks
  await recall({ query: 'tea' })
  // @ts-expect-error -- both
  await recall({ query: 'tea', bank_id: 'a', banks: ['b'] })
  // @ts-expect-error -- neither
  await reflect({ query: 'tea' })
  // @ts-expect-error -- both
  await reflect({ query: 'tea', bank_id: 'a', banks: ['b'] })
  // @ts-expect-error -- nothing that is to be forgotten
  await forget({ bank_id: 'a' })
  // @ts-expect-error -- tags_match goes with tags
  await forget({ bank_id: 'a', scope: 'all', tags_match: 'all' })
  // @ts-expect-error -- no such choice
  await recall({ query: 'tea', bank_id: 'a', tags_match: 'some' })
  // @ts-expect-error -- a name that is not the gateway's
  await retain({ bankId: 'a', content: 'x' })
  const recalled = await recall({ query: 'tea', bank_id: 'a' })
  // @ts-expect-error -- no such code
  if (recalled.status === 403 && recalled.data.code === 'no_such_code') return
  // @ts-expect-error -- this event may have no text
  event.data.text.trim()
}
