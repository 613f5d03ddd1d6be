import t from 'tap'
import { testApp } from '../helpers/app.js'
import { answerOf, connectMcp, refusalOf, REVISIONS } from '../helpers/mcp.js'

for (const revision of REVISIONS) {
  t.test(`the tools in the revision ${revision}`, async (t) => {
    const { app } = await testApp(t)
    const client = await connectMcp(t, app, { revision })
    t.equal(client.getNegotiatedProtocolVersion(), revision)
    const call = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args })

    const { tools } = await client.listTools()
    t.same(tools.map(({ name }) => name), [
      'retain', 'recall', 'reflect', 'forget', 'list_banks',
      'patch_memory', 'retire_memory', 'restore_memory', 'list_versions', 'append_messages', 'list_messages',
      'list_proposals', 'accept_proposal', 'dismiss_proposal',
    ])
    t.same(tools.map(({ name, annotations = {} }) => [
      name, annotations.readOnlyHint, annotations.destructiveHint, annotations.idempotentHint,
    ]), [
      ['retain', false, false, true],
      ['recall', true, false, true],
      ['reflect', true, false, true],
      ['forget', false, true, true],
      ['list_banks', true, false, true],
      ['patch_memory', false, false, true],
      ['retire_memory', false, false, true],
      ['restore_memory', false, false, true],
      ['list_versions', true, false, true],
      ['append_messages', false, false, true],
      ['list_messages', true, false, true],
      ['list_proposals', true, false, true],
      ['accept_proposal', false, false, true],
      ['dismiss_proposal', false, false, true],
    ])

    const stored = answerOf(
      await call('retain', { bank_id: 'user-ada', content: 'Ada drinks green tea.', tags: ['taste'] }),
    )
    t.match(stored, { stored: true, bank_id: 'user-ada' })
    const found = await call('recall', { bank_id: 'user-ada', query: 'What does Ada drink?' })
    t.match(answerOf(found), {
      memories: [{ memory_id: stored['memory_id'], text: 'Ada drinks green tea.', tags: ['taste'], trust: 'trusted' }],
      truncated: false,
    })
    t.same(
      found.content, [{ type: 'text', text: JSON.stringify(found.structuredContent) }],
      'the text is the structured content',
    )
    t.match(
      answerOf(await call('reflect', { bank_id: 'user-ada', query: 'What does Ada drink?' })),
      { abstained: false, sources: [{ bank_id: 'user-ada' }] },
    )
    t.match(answerOf(await call('list_banks', {})), {
      banks: [{ bank_id: 'user-ada', memory_count: 1 }], next_cursor: null,
    })
    await call('retain', { bank_id: 'user-ada', content: 'Ada wrote a letter.', document_id: 'letters' })
    const letters = { bank_id: 'user-ada', document_ids: ['letters'] }
    t.match(answerOf(await call('recall', { ...letters, query: 'Ada' })), { total_available: 1 })
    t.match(refusalOf(await call('forget', { ...letters, scope: 'all' })), { code: 'invalid_request' })
    t.match(answerOf(await call('forget', { ...letters, dry_run: true })), {
      deleted_count: 1, sample: [{ text: 'Ada wrote a letter.' }],
    })
    const after = '2000-01-01T00:00:00Z'
    t.match(answerOf(await call('forget', { ...letters, occurred_after: after })), { deleted_count: 0 })
    t.match(answerOf(await call('forget', { ...letters, speakers: ['Ada'] })), { deleted_count: 0 })
    t.match(answerOf(await call('forget', { ...letters, retained_after: after })), { deleted_count: 1 })
    t.match(
      answerOf(await call('forget', { bank_id: 'user-ada', memory_ids: [stored['memory_id']] })), { deleted_count: 1 },
    )
    t.match(refusalOf(await call('recall', { query: 'tea' })), { code: 'invalid_request' })
  })
}

t.test('tools take the speaker, filter by it, and give when and who first', async (t) => {
  const { app } = await testApp(t)
  const client = await connectMcp(t, app, { revision: REVISIONS[0]! })
  const call = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args })
  await call('retain', {
    bank_id: 'team', content: 'I moved to Paris.', speaker: 'Caroline', occurred_at: '2023-07-17T10:00:00Z',
  })
  await call('retain', { bank_id: 'team', content: 'I moved to Berlin.', speaker: 'Melanie' })
  const by = { bank_id: 'team', query: 'Who moved?', speakers: ['caroline'] }
  const said = await call('recall', by)
  t.match(answerOf(said), { memories: { length: 1, 0: { speaker: 'Caroline', text: 'I moved to Paris.' } } })
  t.match(
    JSON.stringify(said.structuredContent),
    /\{"occurred_at":"2023-07-17T10:00:00.000Z","retained_at":"[^"]+","speaker":"Caroline","text":/,
    'when and who come first',
  )
  t.notMatch(JSON.stringify(answerOf(await call('reflect', by))), /Berlin/)
  t.equal((await call('retain', { bank_id: 'team', content: 'x', speaker: ' ' })).isError, true)
})

for (const revision of REVISIONS) {
  t.test(`a conversation is stored once, found and read in the revision ${revision}`, async (t) => {
    const { app } = await testApp(t)
    const client = await connectMcp(t, app, { revision })
    const call = async (name: string, args: Record<string, unknown>) => (
      await client.callTool({ name, arguments: { bank_id: 'home', ...args } })
    )
    const talk = { conversation_id: 'chat-7' }
    const first = { role: 'user', content: 'I moved to Lyon.', name: 'Ada', created_at: '2026-01-05T09:30:00Z' }
    const second = { role: 'assistant', content: 'How is it?' }
    const stored = answerOf(await call('append_messages', { ...talk, messages: [first] }))
    t.match(stored, { stored: 1, repeated: 0, memory_ids: [String] })
    const grown = { ...talk, messages: [first, second] }
    const answer = answerOf(await call('append_messages', { ...grown, idempotency_key: 'once' }))
    t.match(answer, { stored: 1, repeated: 1, memory_ids: [(stored['memory_ids'] as string[])[0], String] })
    t.same(answerOf(await call('append_messages', { ...grown, idempotency_key: 'once' })), answer)
    t.match(answerOf(await call('append_messages', grown)), { stored: 0, repeated: 2 })

    const found = answerOf(await call('recall', { query: 'Where did Ada move?' }))
    t.match(found['memories'], [{ text: 'I moved to Lyon.', speaker: 'Ada', document_id: 'chat-7' }])
    t.match(answerOf(await call('list_messages', { ...talk, limit: 1 })), {
      messages: { length: 1, 0: { role: 'assistant', content: 'How is it?' } }, next_cursor: String,
    })
    t.match(answerOf(await call('list_messages', talk)), {
      messages: { length: 2, 0: { role: 'user', name: 'Ada', content: 'I moved to Lyon.' } }, next_cursor: null,
    })
    t.match(refusalOf(await call('append_messages', { ...talk, messages: [{ role: 'user', content: [] }] })), {
      code: 'invalid_request', errors: [{ field: 'messages[0].content' }],
    })
  })

  t.test(`a proposal is judged and settled in the revision ${revision}`, async (t) => {
    const { app, retain } = await testApp(t, {
      file: { banks: { '*': { signal_quality: { proposals: { mode: 'propose' } } } } },
    })
    const client = await connectMcp(t, app, { revision, path: '/mcp/banks/home' })
    const call = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args })
    const ada = { speaker: 'Ada' }
    const rome = await retain('home', 'I live in Rome.', ada)
    const milan = await retain('home', 'I live in Milan now.', ada)
    const proposals = async (args = {}) => answerOf(await call('list_proposals', args))['proposals']
    const listed = await proposals()
    t.match(listed, {
      length: 1,
      0: {
        because: 'place',
        state: 'open',
        newer: { memory_id: milan, text: 'I live in Milan now.', speaker: 'Ada' },
        older: { memory_id: rome, text: 'I live in Rome.' },
      },
    })
    const [{ id }] = listed as [{ id: string }]
    t.match(answerOf(await call('accept_proposal', { proposal_id: id })), { id, state: 'accepted' })
    t.match(answerOf(await call('recall', { query: 'Where does Ada live?' })), { memories: { length: 1 } })
    t.match(refusalOf(await call('dismiss_proposal', { proposal_id: id })), { code: 'conflict' })
    t.match(await proposals({ state: 'accepted' }), [{ id, older: { state: 'superseded' } }])

    await retain('home', 'The meeting is at 3 pm.', ada)
    await retain('home', 'The meeting was moved to 4 pm.', ada)
    const [{ id: other }] = await proposals() as [{ id: string }]
    t.match(answerOf(await call('dismiss_proposal', { proposal_id: other })), { id: other, state: 'dismissed' })
    t.same(await proposals(), [])
  })
}
