import t from 'tap'
import {
  MemoryGatewayAdmin, MemoryGatewayClient, MemoryGatewayError, type ImportLine, type ImportSource,
} from '../src/index.js'
import { collect, gateway } from './gateway.js'
import { ANSWER, answering, HostileServer } from './hostile-server.js'

interface Document { paths: Record<string, Record<string, { operationId: string, tags: string[] }>> }

/** The methods of a class and of the generated one that it extends. */
function methodsOf (made: { prototype: object }): string[] {
  const generated: object = Object.getPrototypeOf(made.prototype)
  return [made.prototype, generated].flatMap(Object.getOwnPropertyNames).filter((name) => name !== 'constructor')
}

t.test('every operation of callers is a method of the same name', async (t) => {
  const { get } = await gateway(t)
  const { paths } = (await get('/openapi.json')).json<Document>()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const ofCallers = operations.filter(({ tags }) => !tags.some((tag) => ['admin', 'sources', 'health'].includes(tag)))
  const methods = methodsOf(MemoryGatewayClient)
  const others = ['conversation', 'health', 'reflectStream']
  const names = ofCallers.map(({ operationId }) => operationId)
  t.same(methods.filter((name) => !others.includes(name)).sort(), names.sort())
})

t.test('every operation of operators is a method of MemoryGatewayAdmin, without "admin" before its name', async (t) => {
  const { get } = await gateway(t)
  const { paths } = (await get('/openapi.json')).json<Document>()
  const below = Object.entries(paths).filter(([path]) => path.startsWith('/v1/admin/'))
  const names = below.flatMap(([, path]) => Object.values(path).map(({ operationId }) => (
    operationId.replace(/^admin[A-Z]/, (start) => start.slice(-1).toLowerCase())
  )))
  t.same(methodsOf(MemoryGatewayAdmin).sort(), names.sort())
})

t.test('an operator can call the operations that the admin token guards', async (t) => {
  const { url, client } = await gateway(t, { adminToken: 'secret' })
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  const admin = new MemoryGatewayAdmin({ baseUrl: url, adminToken: 'secret' })
  t.same((await admin.listSources()).sources, [])
  t.match((await admin.listBanks()).banks, [{ tenant_id: null, bank_id: 'user-alice', memory_count: 1 }])
  t.match((await admin.getBank({ bank_id: 'user-alice' })).banks, [{ memory_count: 1 }])
  t.match(await admin.getBankConfig({ bank_id: 'user-alice' }), { config: {} })
  t.match(await admin.resetBankConfig({ bank_id: 'user-alice' }), { config: {} })
  t.ok((await admin.getHistory()).samples.length > 0)
  t.match(await admin.getStatus(), { auth: { mode: 'dev' }, vector_store: { status: 'ok' } })
  t.match(await collect(admin.getAccess({ principal: 'user:alice', limit: 1 })), [{ bank_id: 'user-alice' }])
  t.match(await admin.getAccessRules(), { enabled: false })
  t.match(await admin.checkAccess({ principal: 'user:bob', bank_id: 'team', permission: 'read' }), { allowed: true })
  await t.rejects(admin.reloadConfiguration(), { code: 'not_supported' })
  await t.rejects(new MemoryGatewayAdmin({ baseUrl: url }).listSources(), { code: 'unauthenticated', status: 401 })
  t.match(await collect(client().getAccess()), [{ bank_id: 'user-alice' }])
  t.equal((await client().getBankGrowth({ bank_id: 'user-alice', days: 3 })).days.length, 3)
})

t.test('a memory is retained, found, explained, read, listed and forgotten', async (t) => {
  const client = (await gateway(t)).client()
  const retained = await client.retain({ bank_id: 'user-alice', content: 'Alice drinks tea.', tags: ['drink'] })
  t.match(retained, { stored: true, bank_id: 'user-alice' })
  const { hits } = await client.recall({ bank_id: 'user-alice', query: 'What does Alice drink?', explain: true })
  t.match(hits, [{ memory_id: retained.memory_id, text: 'Alice drinks tea.', scores: { lexical: { rank: 1 } } }])
  t.same((await client.recall({ banks: ['user-alice', 'user-bob'], query: 'tea' })).hits.length, 1)
  const explained = { bank_id: 'user-alice', query: 'tea', expect: retained.memory_id }
  t.match(await client.explainRecall(explained), { memory_id: retained.memory_id, verdict: 'returned' })
  t.match(await client.reflect({ bank_id: 'user-alice', query: 'What does Alice drink?' }), { abstained: false })
  const memory = { bank_id: 'user-alice', memory_id: retained.memory_id }
  t.match(await client.getMemory(memory), { text: 'Alice drinks tea.', tags: ['drink'] })
  t.match(await client.getMemoryNeighbours({ ...memory, before: 1 }), {
    memory: { text: 'Alice drinks tea.' }, before: [],
  })
  t.match(await client.forget({ bank_id: 'user-alice', tags: ['drink'], dry_run: true }), {
    deleted_count: 1, memory_ids: [retained.memory_id], sample: [{ text: 'Alice drinks tea.' }],
  })
  t.same(await client.forget({ bank_id: 'user-alice', memory_ids: [retained.memory_id] }), {
    deleted_count: 1, memory_ids: [retained.memory_id],
  })
  await t.rejects(client.getMemory(memory), { name: 'MemoryGatewayError', code: 'not_found', status: 404 })
})

t.test('messages are appended once each, listed and taken back', async (t) => {
  const client = (await gateway(t)).client()
  const talk = { bank_id: 'bank', conversation_id: 'a/b' }
  const messages = [{ role: 'user', content: 'Hello.' }, { role: 'assistant', content: 'Hi.' }]
  t.match(await client.appendMessages({ ...talk, messages }), { stored: 2, repeated: 0 })
  const grown = [...messages, { role: 'user', content: 'Bye.' }]
  t.match(await client.appendMessages({ ...talk, messages: grown }), { stored: 1, repeated: 2 })
  t.match(await client.listMessages({ ...talk, limit: 1 }), { messages: [{ content: 'Bye.' }], next_cursor: String })
  t.match(await collect(client.listConversations({ bank_id: 'bank' })), [{ conversation_id: 'a/b', message_count: 3 }])
  t.match(await client.popMessages({ ...talk, count: 2 }), { deleted_count: 2 })
  t.match(await client.deleteConversation(talk), { deleted_count: 1 })
})

t.test('a listing returns all pages, and continues from a cursor', async (t) => {
  const client = (await gateway(t)).client()
  const contents = Array.from({ length: 7 }, (_, index) => `Fact ${index}.`)
  const { results } = await client.retainBatch({
    bank_id: 'bank', items: contents.map((content) => ({ content, tags: ['a b', 'c'] })),
  })
  t.equal(results.length, 7)
  await client.retain({ bank_id: 'bank', content: 'Untagged.' })
  const listing = client.listMemories({ bank_id: 'bank', tags: ['a b', 'c'], tags_match: 'all', limit: 3 })
  t.same((await collect(listing)).map(({ text }) => text).sort(), contents)
  const pages = await collect(listing.pages())
  t.same(pages.map(({ memories }) => memories.length), [3, 3, 1])
  const rest = client.listMemories({
    bank_id: 'bank', tags: ['a b', 'c'], tags_match: 'all', cursor: pages[0]!.next_cursor!,
  })
  t.equal((await collect(rest)).length, 4)
  await client.retain({ bank_id: 'other', content: 'One.' })
  t.same((await collect(client.listBanks({ limit: 1 }))).map((bank) => bank.bank_id), ['bank', 'other'])
  t.equal((await client.getBank({ bank_id: 'bank' })).memory_count, 8)
  t.equal((await client.getBankStatistics({ bank_id: 'bank' })).tags.length, 2)
})

t.test('a bank is configured', async (t) => {
  const client = (await gateway(t)).client()
  const put = await client.putBankConfig({ bank_id: 'bank', config: { mission: 'Tea.', description: 'Of Alice.' } })
  t.same(put.config, { mission: 'Tea.', description: 'Of Alice.' })
  const patched = await client.patchBankConfig({ bank_id: 'bank', patch: { mission: null }, if_match: put.etag })
  t.same(patched.config, { description: 'Of Alice.' })
  const overtaken = { bank_id: 'bank', config: {}, if_match: put.etag }
  await t.rejects(client.putBankConfig(overtaken), { code: 'precondition_failed', status: 412 })
  const create = { bank_id: 'bank', config: {}, if_none_match: '*' } as const
  await t.rejects(client.putBankConfig(create), { code: 'precondition_failed', status: 412 })
  t.equal((await client.getBankConfig({ bank_id: 'bank' })).etag, patched.etag)
  t.same((await client.resetBankConfig({ bank_id: 'bank', if_match: patched.etag })).config, {})
  t.equal((await client.getBankConfigHistory({ bank_id: 'bank' })).history.length, 3)
  await client.retain({ bank_id: 'bank', content: 'One.' })
  t.match(await client.deleteBank({ bank_id: 'bank' }), { deleted_count: 1 })
})

/** Pieces of so many bytes. */
function cut (bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) => (
    bytes.subarray(index * length, (index + 1) * length)
  ))
}

t.test('an exported bank can be imported from every kind of source', async (t) => {
  const client = (await gateway(t)).client()
  const items = ['Größe: 3 m.', 'Café ☕', 'Two\nlines.'].map((content) => ({ content }))
  await client.retainBatch({ bank_id: 'from', items })
  const lines = await collect(client.exportBank({ bank_id: 'from' }))
  t.equal(lines.length, 4)
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
  const sources: Record<string, () => ImportSource> = {
    'whole-text': () => lines.join('\n'),
    'whole-bytes': () => bytes,
    blob: () => new Blob([bytes]),
    export: () => client.exportBank({ bank_id: 'from' }),
    lines: () => lines,
    'ended-lines': () => new Set(lines.map((line) => `${line}\n`)),
    objects: () => lines.map((line) => JSON.parse(line) as ImportLine),
    // Cut within characters of several bytes.
    bytes: () => cut(bytes, 7),
  }
  for (const [name, source] of Object.entries(sources)) {
    const bank = `to-${name}`
    const answer = await client.importBank({ bank_id: bank, lines: source(), on_conflict: 'overwrite' })
    t.same(answer, { imported: 3, skipped: 0, overwritten: 0 }, name)
    const memories = await collect(client.listMemories({ bank_id: bank }))
    t.same(memories.map(({ text }) => text).sort(), items.map(({ content }) => content).sort(), name)
  }
})

t.test('whoami and health return the answers of the gateway', async (t) => {
  const { client } = await gateway(t)
  const asked = client({ principal: 'user:alice' })
  t.match(await asked.whoami({ bank_id: 'user-alice' }), { principal: 'user:alice', permissions: [{}] })
  t.match(await asked.health(), { status: 'ok', checks: { vector_store: { status: 'ok' } } })
})

t.test('an error has the code, the status and the request id of the gateway', async (t) => {
  const client = (await gateway(t)).client()
  const error = await client.recall({ bank_id: 'a b', query: 'x' }, { requestId: 'my-request' })
    .catch((error: unknown) => error)
  if (!(error instanceof MemoryGatewayError)) throw new Error('no MemoryGatewayError')
  t.match(error, {
    code: 'invalid_request', status: 400, requestId: 'my-request', body: { errors: [{ field: 'bank_id' }] },
  })
  t.match(error.message, /^bank_id: /)
})

t.test('a name that is missing or would change the path is never sent', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(answering(200, ANSWER))
  const { client } = server.client()
  for (const name of ['', '.', '..', undefined as unknown as string]) {
    await t.rejects(client.deleteBank({ bank_id: name }), TypeError, String(name))
  }
  t.equal(server.requests.length, 0)
  await client.getBank({ bank_id: 'a/../b?c#d%20' })
  t.equal(server.requests[0]?.url, '/v1/banks/a%2F..%2Fb%3Fc%23d%2520')
})

t.test('a rate-limited request is refused with the time after which it can be repeated', async (t) => {
  const { client } = await gateway(t, { file: { homeostasis: { rate_limits: { recall_per_minute: 1 } } } })
  await client().recall({ bank_id: 'bank', query: 'x' })
  const refused = client({ retries: 0 }).recall({ bank_id: 'bank', query: 'x' })
  await t.rejects(refused, { code: 'rate_limited', status: 429, retryAfter: 60 })
})
