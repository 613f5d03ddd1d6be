import t from 'tap'
import { testApp } from '../helpers/app.js'
import { countingIds } from '../helpers/clock.js'
import { as, longText, ONE_PERMISSION_EACH, refused, refusedFields, textsOf } from './support.js'

const { post, get, retain } = await testApp(t)

const EVERYTHING = {
  content: 'Alice moved to Lyon.',
  tags: ['home', 'city'],
  metadata: { speaker: 'alice', turn: 3, certain: true, room: null },
  occurred_at: '2025-03-01T09:30:00+02:00',
  document_id: 'chat-7',
  source: 'import of May',
  expires_at: '2027-01-01T00:00:00Z',
}

await t.test('a retain returns the id, the chunks and the bank of the new memory, and nothing else', async (t) => {
  const response = await post('/v1/retain', { bank_id: 'answer', content: 'Alice likes tea.' })
  t.equal(response.statusCode, 200)
  const { memory_id: memoryId, ...rest } = response.json()
  t.match(memoryId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.same(rest, { stored: true, chunk_count: 1, deduplicated: false, bank_id: 'answer' })
})

await t.test('every retained field is returned, with instants in UTC', async (t) => {
  const id = await retain('whole', EVERYTHING.content, EVERYTHING)
  t.same((await get(`/v1/banks/whole/memories/${id}`)).json(), {
    memory_id: id,
    bank_id: 'whole',
    text: 'Alice moved to Lyon.',
    tags: ['city', 'home'],
    metadata: { speaker: 'alice', turn: 3, certain: true, room: null },
    occurred_at: '2025-03-01T07:30:00.000Z',
    retained_at: '2026-01-15T10:00:00.000Z',
    expires_at: '2027-01-01T00:00:00.000Z',
    document_id: 'chat-7',
    source: 'import of May',
    speaker: 'alice',
    trust: 'trusted',
    version: 1,
    state: 'current',
  })
})

await t.test('null counts as an absent field', async (t) => {
  const nothing = { tags: null, metadata: null, occurred_at: null, document_id: null, source: null, expires_at: null }
  const id = await retain('nulls', 'Bare.', nothing)
  t.match((await get(`/v1/banks/nulls/memories/${id}`)).json(), { ...nothing, tags: [], metadata: {} })
})

await t.test('content is stored as it was written, without surrounding white space', async (t) => {
  const id = await retain('trimmed', ' \n\tTwo  spaces\nand a line. \u00a0\n')
  t.equal((await get(`/v1/banks/trimmed/memories/${id}`)).json().text, 'Two  spaces\nand a line.')
})

await t.test('a bank exists from its first retain on', async (t) => {
  const names = async () => (
    (await get('/v1/banks?limit=200')).json<{ banks: Array<{ bank_id: string }> }>().banks.map((bank) => bank.bank_id)
  )
  t.notOk((await names()).includes('newborn'))
  await retain('newborn', 'First words.')
  t.ok((await names()).includes('newborn'))
})

await t.test('a long text is one memory with one id, however many chunks it is split into', async (t) => {
  const content = longText(120)
  const answer = (await post('/v1/retain', { bank_id: 'long', content })).json()
  t.ok(answer.chunk_count > 3)
  t.equal((await get('/v1/banks/long')).json().memory_count, 1)

  const recalled = await post('/v1/recall', { bank_id: 'long', query: 'lighthouse lamp' })
  t.same(textsOf(recalled), [content])
  t.match(recalled.json(), { total_available: 1, hits: [{ memory_id: answer.memory_id }] })

  const lines = (await get('/v1/banks/long/export')).body.trim().split('\n')
  t.equal(lines.length, 2)
  t.match(JSON.parse(lines[1]!), { memory_id: answer.memory_id, text: content })

  t.same((await post('/v1/forget', { bank_id: 'long', memory_ids: [answer.memory_id] })).json(), {
    deleted_count: 1, memory_ids: [answer.memory_id],
  })
  t.same(textsOf(await post('/v1/recall', { bank_id: 'long', query: 'number119' })), [])
})

const accepted: Record<string, Record<string, unknown>> = {
  'content of one character': { content: 'x' },
  'content of 50,000 characters': { content: 'a'.repeat(50_000) },
  'content of 50,000 characters outside the basic plane': { content: '\u{1f511}'.repeat(50_000) },
  'content of 50,000 characters and white space around': { content: `${' '.repeat(50)}${'b'.repeat(50_000)}\n` },
  '100 tags of 128 characters': {
    content: 'tags', tags: Array.from({ length: 100 }, (_, index) => String(index).padStart(128, 't')),
  },
  'metadata of 4096 bytes': { content: 'metadata', metadata: { k: 'v'.repeat(4096 - '{"k":""}'.length) } },
  'a bank id of 255 characters': { content: 'bank', bank_id: 'a'.repeat(255) },
  'a bank id with every sign': { content: 'bank', bank_id: '9.a_b:c@d-e' },
  'an expires_at one millisecond ahead': { content: 'soon', expires_at: '2026-01-15T10:00:00.001Z' },
  'an occurred_at in the future': { content: 'later', occurred_at: '2099-01-01T00:00:00-11:30' },
}
for (const [what, body] of Object.entries(accepted)) {
  await t.test(`a retain accepts ${what}`, async (t) => {
    const response = await post('/v1/retain', { bank_id: 'limits', ...body })
    t.equal(response.statusCode, 200, response.body.slice(0, 300))
    t.equal(response.json().stored, true)
  })
}

const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['no content', 'content', { content: undefined }],
  ['null for content', 'content', { content: null }],
  ['a number for content', 'content', { content: 5 }],
  ['empty content', 'content', { content: '' }],
  ['blank content', 'content', { content: ' \n\t\u3000' }],
  ['content of 50,001 characters', 'content', { content: 'a'.repeat(50_001) }],
  ['content with U+0000', 'content', { content: 'a\u0000b' }],
  ['content with half a character', 'content', { content: 'a\ud800b' }],
  ['no bank', 'bank_id', { bank_id: undefined }],
  ['an empty bank id', 'bank_id', { bank_id: '' }],
  ['a bank id of 256 characters', 'bank_id', { bank_id: 'a'.repeat(256) }],
  ['a bank id that starts with a dash', 'bank_id', { bank_id: '-a' }],
  ['a bank id with a slash', 'bank_id', { bank_id: 'a/b' }],
  ['a bank id with a wildcard', 'bank_id', { bank_id: 'a*' }],
  ['a bank id with a letter outside ASCII', 'bank_id', { bank_id: 'bänk' }],
  ['a bank id with a line feed behind', 'bank_id', { bank_id: 'a\n' }],
  ['an empty list of tags', 'tags', { tags: [] }],
  ['101 tags', 'tags', { tags: Array.from({ length: 101 }, (_, index) => `t${index}`) }],
  ['one tag without a list', 'tags', { tags: 'a' }],
  ['an empty tag', 'tags[1]', { tags: ['a', ''] }],
  ['a tag of 129 characters', 'tags[0]', { tags: ['t'.repeat(129)] }],
  ['a number for a tag', 'tags[0]', { tags: [1] }],
  ['several tags with U+0000', 'tags', { tags: ['\u0000', 'a\u0000', ' '] }],
  ['many keys with U+0000', 'metadata', {
    metadata: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`\u0000${index}`, 1])),
  }],
  ['a list for metadata', 'metadata', { metadata: ['a'] }],
  ['nested metadata', 'metadata.a', { metadata: { a: { b: 1 } } }],
  ['a list within metadata', 'metadata.a', { metadata: { a: [1] } }],
  ['metadata of 4097 bytes', 'metadata', { metadata: { k: 'v'.repeat(4097 - '{"k":""}'.length) } }],
  ['metadata of 4097 bytes in fewer characters', 'metadata', { metadata: { k: 'é'.repeat(2045) } }],
  ['an instant without an offset', 'occurred_at', { occurred_at: '2025-03-01T09:30:00' }],
  ['a date without a time', 'occurred_at', { occurred_at: '2025-03-01' }],
  ['a day that does not exist', 'occurred_at', { occurred_at: '2025-02-30T00:00:00Z' }],
  ['a number for an instant', 'occurred_at', { occurred_at: 1700000000 }],
  ['an expires_at that is now', 'expires_at', { expires_at: '2026-01-15T10:00:00Z' }],
  ['an expires_at in the past', 'expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
  ['an expires_at without an offset', 'expires_at', { expires_at: '2030-01-01T00:00:00' }],
  ['an empty document_id', 'document_id', { document_id: '' }],
  ['a number for source', 'source', { source: 1 }],
  ['an unknown field', 'memory', { memory: 'x' }],
]
for (const [what, field, body] of wrong) {
  await t.test(`a retain refuses ${what}`, async (t) => {
    refusedFields(t, await post('/v1/retain', { bank_id: 'refused', content: 'Good.', ...body }), field)
    t.equal((await get('/v1/banks/refused')).json().memory_count, 0)
  })
}

await t.test('a retain requires the permission write and no other', async (t) => {
  const { post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  const body = { bank_id: 'team', content: 'Shared.' }
  for (const principal of ['user:read', 'user:forget', 'user:admin', 'user:nobody']) {
    refused(t, await post('/v1/retain', body, as(principal)), 403, 'access_denied', {
      detail: `Principal '${principal}' is denied 'write' on bank 'team'`,
    })
  }
  t.equal((await post('/v1/retain', body, as('user:write'))).json().stored, true)
})

await t.test('a request that a limit refuses is not prepared; a wrong field is reported before a limit', async (t) => {
  const ids = countingIds()
  let given = 0
  const newId = () => { given++; return ids() }
  const app = await testApp(t, { file: { homeostasis: { rate_limits: { retain_per_minute: 1 } } } }, { newId })
  await app.retain('home', 'The first.')
  t.equal(given, 1)
  for (let count = 0; count < 2; count++) {
    t.equal((await app.post('/v1/retain', { bank_id: 'home', content: 'Another.' })).statusCode, 429)
  }
  t.equal(given, 1, 'no id was created for a refused memory')
  refused(t, await app.post('/v1/retain', { bank_id: 'home', content: ' ' }), 400, 'invalid_request')
})
