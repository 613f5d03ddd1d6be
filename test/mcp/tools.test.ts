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
      'patch_memory', 'retire_memory', 'restore_memory', 'list_versions',
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
