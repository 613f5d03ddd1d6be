import t from 'tap'
import { countTokens } from '../../lib/text/tokens.js'
import { testApp } from '../helpers/app.js'
import { answerOf, connectMcp } from '../helpers/mcp.js'

const TOKENS = 1000
const file = { mcp: { answer_tokens: TOKENS } }
const sentence = (index: number) => (
  `Fact ${index}: the harbour of town ${index} has ${index} boats, and each of them carries tea to the ` +
    'islands in spring.'
)

t.test('a recall is cut to the hits that fit', async (t) => {
  const { app, retain } = await testApp(t, { file })
  for (let index = 0; index < 40; index++) await retain('b', sentence(index))
  const client = await connectMcp(t, app)
  const answer = answerOf(
    await client.callTool({ name: 'recall', arguments: { bank_id: 'b', query: 'harbour boats tea', max_results: 40 } }),
  )
  const memories = answer['memories'] as Array<{ text: string }>
  t.ok(memories.length > 3 && memories.length < 40)
  t.equal(answer['truncated'], true)
  t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 20)
})

for (const [name, text] of [
  ['English', 'tea on the islands '.repeat(2000)], ['emoji', '🫖🏝 '.repeat(5000)], ['one word', 'x'.repeat(40_000)],
] as const) {
  t.test(`a memory that does not fit alone is cut: ${name}`, async (t) => {
    const { app, retain } = await testApp(t, { file })
    const id = await retain('b', `harbour ${text}`)
    const client = await connectMcp(t, app)
    const answer = answerOf(await client.callTool({ name: 'recall', arguments: { bank_id: 'b', query: 'harbour' } }))
    t.match(answer, { truncated: true, memories: [{ memory_id: id, text_truncated: true }] })
    const [memory] = answer['memories'] as Array<{ text: string }>
    t.ok(memory!.text.length > 100 && `harbour ${text}`.startsWith(memory!.text))
    t.ok(memory!.text.isWellFormed())
    t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 20)
    const { contents } = await client.readResource({ uri: `memory://banks/b/memories/${id}` })
    t.match(JSON.parse(String((contents[0] as { text: string }).text)), { text_truncated: true })
  })
}

t.test('of a long memory the passages that match are given, and then the other hits', async (t) => {
  const { app, retain } = await testApp(t, { file })
  const log = Array.from({ length: 800 }, (_, day) => `The harbour log of day ${day} mentions wind and tide.`).join(' ')
  const secret = 'The passphrase of the lighthouse keeper is heliotrope.'
  const long = await retain('b', `${log.slice(0, 40_000)} ${secret}`)
  const short = await Promise.all([1, 2, 3].map(async (index) => (
    await retain('b', `Short note ${index} on the keeper of the lighthouse.`)
  )))
  const client = await connectMcp(t, app)
  const call = async (name: string) => answerOf(await client.callTool({
    name,
    arguments: {
      bank_id: 'b',
      query: 'What is the passphrase of the lighthouse keeper?',
      ...(name === 'reflect' && { include_sources: 'all' }),
    },
  }))
  for (const [name, list] of [['recall', 'memories'], ['reflect', 'sources']] as const) {
    const answer = await call(name)
    const memories = answer[list] as Array<{ memory_id: string, text: string, text_truncated?: boolean }>
    t.equal(memories[0]?.memory_id, long, name)
    t.equal(memories[0]?.text_truncated, true)
    t.ok(memories[0]?.text.endsWith(secret), `${name}: ${memories[0]?.text.slice(-80)}`)
    // A reflect may use fewer of them as evidence.
    const others = memories.slice(1).map(({ memory_id: id }) => id)
    if (name === 'recall') t.strictSame(others.sort(), short.sort())
    else t.ok(others.some((id) => short.includes(id)))
    t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 50)
  }
})

t.test('the passages of a long memory are in the order of its text, not of their scores', async (t) => {
  const { app, retain } = await testApp(t, { file: { mcp: { answer_tokens: 2000 } } })
  const log = Array.from({ length: 400 }, (_, day) => `The harbour log of day ${day} mentions wind and tide.`).join(' ')
  const name = 'The keeper of the lighthouse is called Ada.'
  const secret = 'The passphrase of the lighthouse keeper is heliotrope.'
  await retain('b', `${name} ${log} ${secret}`)
  const client = await connectMcp(t, app)
  const answer = answerOf(await client.callTool({
    name: 'recall', arguments: { bank_id: 'b', query: 'What is the passphrase of the lighthouse keeper?' },
  }))
  const [memory] = answer['memories'] as Array<{ text: string, text_truncated?: boolean }>
  t.equal(memory?.text_truncated, true)
  t.match(memory?.text, new RegExp(`^${name}.* … .*${secret}$`))
})

t.test('a memory that would take more than half of what is left makes place for those after it', async (t) => {
  const { app, retain } = await testApp(t, { file })
  const log = Array.from({ length: 60 }, (_, day) => `The harbour log of day ${day} mentions wind and tide.`).join(' ')
  const secret = 'The passphrase of the lighthouse keeper is heliotrope.'
  const long = await retain('b', `${log} ${secret}`)
  t.ok(countTokens(log) > TOKENS / 2 && countTokens(log) < TOKENS * 0.8)
  for (const index of [1, 2, 3, 4, 5]) {
    await retain('b', `Note ${index} on the keeper of the lighthouse. ${'He reads and sleeps. '.repeat(12)}`)
  }
  const client = await connectMcp(t, app)
  const answer = answerOf(await client.callTool({
    name: 'recall', arguments: { bank_id: 'b', query: 'What is the passphrase of the lighthouse keeper?' },
  }))
  const [first, ...others] = answer['memories'] as Array<{ memory_id: string, text: string, text_truncated?: boolean }>
  t.match(first, { memory_id: long, text_truncated: true })
  t.ok(first?.text.endsWith(secret))
  t.ok(others.length >= 3, `${others.length} others`)
  t.ok(others.every(({ text_truncated: isTruncated }) => isTruncated === undefined))
})

t.test('a long memory is given whole when all hits fit', async (t) => {
  const { app, retain } = await testApp(t)
  const text = `${'Boats carry tea to the islands. '.repeat(700)}The keeper sleeps.`
  await retain('b', text)
  await retain('b', 'The keeper reads.')
  const client = await connectMcp(t, app)
  const answer = answerOf(await client.callTool({ name: 'recall', arguments: { bank_id: 'b', query: 'keeper' } }))
  t.equal(answer['truncated'], false)
  t.strictSame((answer['memories'] as Array<{ text: string }>).map(({ text }) => text.length).sort((a, b) => b - a), [
    text.length, 'The keeper reads.'.length,
  ])
})

t.test('sources of a reflect, ids of a forget and pages of banks are cut', async (t) => {
  const { app, post } = await testApp(t, { file })
  const items = Array.from({ length: 100 }, (_, index) => ({ content: sentence(index), tags: ['all'] }))
  await post('/v1/retain/batch', { bank_id: 'b', items })
  for (let index = 0; index < 60; index++) {
    await post('/v1/retain', { bank_id: `bank-${index}-${'x'.repeat(100)}`, content: 'x' })
  }
  const client = await connectMcp(t, app)
  const call = async (name: string, args: Record<string, unknown>) =>
    answerOf(await client.callTool({ name, arguments: args }))
  const reflected = await call('reflect', { bank_id: 'b', query: 'Which harbours have boats?' })
  t.ok(countTokens(JSON.stringify(reflected)) <= TOKENS + 50)
  const deleted = await call('forget', { bank_id: 'b', tags: ['all'] })
  t.match(deleted, { deleted_count: 100, truncated: true })
  t.ok((deleted['memory_ids'] as string[]).length < 100)

  const seen = new Set<string>()
  let cursor: string | null = null
  do {
    const page: Record<string, unknown> = await call('list_banks', cursor === null ? {} : { cursor })
    t.ok(countTokens(JSON.stringify(page)) <= TOKENS)
    for (const { bank_id: bankId } of page['banks'] as Array<{ bank_id: string }>) seen.add(bankId)
    cursor = page['next_cursor'] as string | null
  } while (cursor !== null)
  t.equal(seen.size, 60, 'every bank is on one of the pages')
})

t.test('the sample of a dry run is cut', async (t) => {
  const { app, retain } = await testApp(t, { file })
  for (let index = 0; index < 10; index++) {
    await retain('b', `harbour ${index} ${'tea '.repeat(5000)}`, { tags: ['all'] })
  }
  const client = await connectMcp(t, app)
  const forget = async () => answerOf(
    await client.callTool({ name: 'forget', arguments: { bank_id: 'b', tags: ['all'], dry_run: true } }),
  )
  const cut = await forget()
  t.match(cut, { deleted_count: 10, truncated: true, sample: [{ text: /^harbour/, text_truncated: true }] })
  t.equal((cut['memory_ids'] as string[]).length, 10)
  t.equal((cut['sample'] as unknown[]).length, 1)
  t.ok(countTokens(JSON.stringify(cut)) <= TOKENS + 20)
})

t.test('a memory whose tags do not fit is shown without them', async (t) => {
  const { app, retain } = await testApp(t, { file })
  const tags = Array.from({ length: 100 }, (_, index) => `${index}${'tea-'.repeat(31)}`)
  const id = await retain('b', `harbour ${'tea '.repeat(5000)}`, { tags, metadata: { port: 'x'.repeat(3000) } })
  const client = await connectMcp(t, app)
  const call = async (name: string) => (
    answerOf(await client.callTool({ name, arguments: { bank_id: 'b', query: 'harbour' } }))
  )
  for (const [answer, list] of [[await call('recall'), 'memories'], [await call('reflect'), 'sources']] as const) {
    t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 50)
    const [memory] = answer[list] as Array<Record<string, unknown>>
    t.match(memory, { memory_id: id, text: /^harbour/, text_truncated: true, tags: undefined, metadata: undefined })
  }
  const { contents } = await client.readResource({ uri: `memory://banks/b/memories/${id}` })
  t.match(JSON.parse(String((contents[0] as { text: string }).text)), { text_truncated: true, tags: undefined })
})

t.test('a conversation is read in pages that fit, and a message that does not fit alone is cut', async (t) => {
  const { app, post } = await testApp(t, { file })
  const messages = Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: sentence(index) }))
  const append = async (id: string, sent: object[]) => {
    t.equal((await post(`/v1/banks/b/conversations/${id}/messages`, { messages: sent })).statusCode, 200)
  }
  await append('many', messages)
  await append('long', [{ role: 'user', content: `harbour ${'🫖🏝 '.repeat(5000)}` }])
  const client = await connectMcp(t, app)
  const read = async (id: string, before?: unknown) => {
    const answer = answerOf(await client.callTool({
      name: 'list_messages', arguments: { bank_id: 'b', conversation_id: id, ...before !== undefined && { before } },
    }))
    t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 20)
    return answer as { messages: Array<{ content: string, content_truncated?: boolean }>, next_cursor: string | null }
  }
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read('many', cursor)
    pages.unshift(page.messages.map(({ content }) => content))
    cursor = page.next_cursor
  }
  t.ok(pages.length > 1)
  t.same(pages.flat(), messages.map(({ content }) => content))
  const { messages: [message] } = await read('long')
  t.match(message, { content: /^harbour 🫖/u, content_truncated: true })
  t.ok(message!.content.isWellFormed())
})

t.test('the ids of many messages are cut', async (t) => {
  const { app } = await testApp(t, { file })
  const client = await connectMcp(t, app)
  const messages = Array.from({ length: 200 }, (_, index) => ({ role: 'user', content: `Turn ${index}.` }))
  const answer = answerOf(await client.callTool({
    name: 'append_messages', arguments: { bank_id: 'b', conversation_id: 'c', messages },
  }))
  t.match(answer, { stored: 200, truncated: true })
  t.ok((answer['memory_ids'] as unknown[]).length < 200)
  t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 30)
})

t.test('both memories of a proposal that does not fit are cut, and the others are on further pages', async (t) => {
  const { app, retain } = await testApp(t, {
    file: { ...file, banks: { '*': { signal_quality: { proposals: { mode: 'propose' } } } } },
  })
  const long = ' It is a fine town with a harbour.'.repeat(200)
  const [home, work] = [{ speaker: 'Ada' }, { speaker: 'Ben' }]
  await retain('b', `I live in Rome.${long}`, home)
  await retain('b', `I live in Milan now.${long}`, home)
  await retain('b', 'I work at Acme.', work)
  await retain('b', 'I work at Globex now.', work)
  const client = await connectMcp(t, app)
  const list = async (more: object) => {
    const answer = answerOf(await client.callTool({ name: 'list_proposals', arguments: { bank_id: 'b', ...more } }))
    t.ok(countTokens(JSON.stringify(answer)) <= TOKENS + 50)
    return answer
  }
  const first = await list({})
  t.match(first, { proposals: { length: 1, 0: { newer: { text: 'I work at Globex now.' } } }, next_cursor: String })
  t.match(await list({ cursor: first['next_cursor'] }), {
    proposals: {
      length: 1,
      0: {
        newer: { text: /^I live in Milan now\. It is/, text_truncated: true },
        older: { text: /^I live in Rome\. It is/, text_truncated: true },
      },
    },
    next_cursor: null,
  })
})
