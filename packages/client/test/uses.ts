/* Uses of the client that the compiler must accept, and others that it must reject. Nothing here is run. */
import { MemoryGatewayAdmin, MemoryGatewayClient, MemoryGatewayError, type ExportLine } from '../src/index.js'

export async function rightUses (client: MemoryGatewayClient): Promise<string> {
  await client.recall({ bank_id: 'a', query: 'x', tags_match: 'all' })
  await client.recall({ banks: ['a', 'b'], query: 'x' }, { timeoutMs: 1, signal: new AbortController().signal })
  await client.reflect({ bank_id: 'a', query: 'x', response_schema: { type: 'object', properties: {} } })
  await client.forget({ bank_id: 'a', scope: 'all', dry_run: true })
  await client.forget({ bank_id: 'a', tags: ['x'], tags_match: 'any' })
  await client.forget({ bank_id: 'a', document_ids: ['d'], occurred_before: '2026-01-01T00:00:00Z', dry_run: true })
  await client.recall({ bank_id: 'a', query: 'q', document_ids: ['d'] })
  await client.retain(
    { bank_id: 'a', content: 'x', metadata: { turn: 1, said: true, by: null } }, { idempotencyKey: 'k' },
  )
  await client.patchBankConfig({ bank_id: 'a', patch: { mission: null } })
  await client.importBank({ bank_id: 'b', lines: client.exportBank({ bank_id: 'a' }) })
  await client.importBank({ bank_id: 'b', lines: [{ format: 'memory-gateway-export', version: 1 }, { text: 'x' }] })
  for await (const line of client.exportBank({ bank_id: 'a' })) {
    const parsed = JSON.parse(line) as ExportLine
    if ('text' in parsed) await client.importBank({ bank_id: 'b', lines: [parsed] })
  }
  for await (const told of client.reflectStream({ bank_id: 'a', query: 'x' })) {
    if (told.event === 'delta') return told.data.text
    if (told.event === 'done') return told.data.answer
  }
  for await (const { text, trust } of client.listMemories({ bank_id: 'a' })) if (trust === 'suspect') return text
  const { hits } = await client.recall({ bank_id: 'a', query: 'x' })
  const occurred: string | null | undefined = hits[0]?.occurred_at
  return occurred ?? ''
}

/** With `exactOptionalPropertyTypes`, callers can pass on options that they may not have. */
export async function optionalUses (secret: string | undefined, signal: AbortSignal | undefined): Promise<void> {
  const client = new MemoryGatewayClient({
    baseUrl: 'http://127.0.0.1',
    apiKey: secret,
    token: secret,
    principal: secret,
    onBehalfOf: secret,
    headers: undefined,
    timeoutMs: undefined,
    retries: undefined,
    fetch: undefined,
  })
  await client.recall({ bank_id: 'a', query: 'x' }, { signal, requestId: secret, timeoutMs: undefined })
  await client.retain({ bank_id: 'a', content: 'x' }, { signal, idempotencyKey: secret })
  await client.patchBankConfig({ bank_id: 'a', patch: {}, if_match: secret })
  await new MemoryGatewayAdmin({ baseUrl: 'http://127.0.0.1', adminToken: secret })
    .getBankConfig({ bank_id: 'a', tenant_id: secret })
}

export async function wrongUses (client: MemoryGatewayClient): Promise<void> {
  // @ts-expect-error -- a filter beside ids
  await client.forget({ bank_id: 'a', memory_ids: ['x'], document_ids: ['d'] })
  // @ts-expect-error -- neither bank_id nor banks
  await client.recall({ query: 'x' })
  // @ts-expect-error -- both
  await client.recall({ bank_id: 'a', banks: ['b'], query: 'x' })
  // @ts-expect-error -- neither
  await client.reflect({ query: 'x' })
  // @ts-expect-error -- both, of a stream
  client.reflectStream({ bank_id: 'a', banks: ['b'], query: 'x' })
  // @ts-expect-error -- nothing that is to be forgotten
  await client.forget({ bank_id: 'a' })
  // @ts-expect-error -- two ways of naming it
  await client.forget({ bank_id: 'a', tags: ['x'], scope: 'all' })
  // @ts-expect-error -- of tags alone it can be asked how many must match
  await client.forget({ bank_id: 'a', scope: 'all', tags_match: 'all' })
  // @ts-expect-error -- a memory of an import has a text, no content
  await client.importBank({ bank_id: 'a', lines: [{ content: 'x' }] })
  // @ts-expect-error -- no content
  await client.retain({ bank_id: 'a' })
  // @ts-expect-error -- a name that is not the gateway's
  await client.retain({ bankId: 'a', content: 'x' })
  // @ts-expect-error -- no such choice
  await client.recall({ bank_id: 'a', query: 'x', tags_match: 'some' })
  // @ts-expect-error -- a read takes no key
  await client.recall({ bank_id: 'a', query: 'x' }, { idempotencyKey: 'k' })
  // @ts-expect-error -- no such event
  for await (const { event } of client.reflectStream({ bank_id: 'a', query: 'x' })) if (event === 'error') break
}

export function told (error: unknown): number | undefined {
  if (error instanceof MemoryGatewayError && error.code === 'rate_limited') return error.retryAfter
  return undefined
}
