import t from 'tap'
import { testApp } from '../helpers/app.js'
import { answerOf, connectMcp, MCP_HEADERS, refusalOf, REVISIONS, rpc } from '../helpers/mcp.js'

for (const revision of REVISIONS) {
  t.test(`an endpoint of one bank in the revision ${revision}`, async (t) => {
    const { app, retain } = await testApp(t)
    const other = await retain('user-bob', 'Bob drinks coffee.')
    const client = await connectMcp(t, app, { revision, path: '/mcp/banks/user-ada' })
    const call = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args })

    const { tools } = await client.listTools()
    t.same(tools.map(({ name }) => name), [
      'retain', 'recall', 'reflect', 'forget', 'patch_memory', 'retire_memory', 'restore_memory', 'list_versions',
      'append_messages', 'list_messages', 'list_proposals', 'accept_proposal', 'dismiss_proposal',
    ])
    t.notOk(
      tools.some(({ inputSchema }) => /"banks?(_id)?"/.test(JSON.stringify(inputSchema))), 'no argument is a bank',
    )
    t.notOk(tools.some(({ description }) => description?.includes('bank_id')))
    t.match(answerOf(await call('retain', { content: 'Ada drinks tea.' })), { bank_id: 'user-ada' })
    t.match(
      answerOf(await call('recall', { query: 'Who drinks?' })),
      { memories: [{ bank_id: 'user-ada' }], total_available: 1 },
    )
    t.match(answerOf(await call('reflect', { query: 'Who drinks tea?' })), { sources: [{ bank_id: 'user-ada' }] })
    t.match(
      answerOf(await call('forget', { memory_ids: [other] })), { deleted_count: 0 },
      'an id of another bank does not count',
    )

    for (const args of [{ bank_id: 'user-bob' }, { bank_id: 'user-ada' }, { banks: ['user-bob'] }, { bank_id: null }]) {
      for (const [name, rest] of [
        ['recall', { query: 'x' }], ['retain', { content: 'x' }], ['forget', { scope: 'all' }],
      ] as const) {
        t.match(refusalOf(await call(name, { ...rest, ...args })), {
          code: 'invalid_request', errors: [{ field: Object.keys(args)[0], message: /serves one bank/ }],
        })
      }
    }
    await t.rejects(call('list_banks', {}), { code: -32602 })

    const { resources } = await client.listResources()
    t.match(resources, [
      { uri: 'memory://banks/user-ada' }, { uri: /^memory:\/\/banks\/user-ada\/memories\//, title: 'Ada drinks tea.' },
    ])
    for (const uri of ['memory://banks/user-bob', `memory://banks/user-bob/memories/${other}`]) {
      await t.rejects(client.readResource({ uri }), { code: -32602 })
    }
    await t.rejects(client.readResource({ uri: `memory://banks/user-ada/memories/${other}` }), { code: -32602 })
    const { prompts } = await client.listPrompts()
    t.notOk(prompts.some(({ arguments: given = [] }) => given.some(({ name }) => name === 'bank_id')))
    await t.rejects(
      client.getPrompt({ name: 'remember_conversation', arguments: { bank_id: 'user-bob' } }), { code: -32602 },
    )
    t.match(JSON.stringify(await client.getPrompt({ name: 'remember_conversation' })), /user-ada/)
  })
}

t.test('the title of a memory is cut between characters', async (t) => {
  const { app, retain } = await testApp(t)
  await retain('user-ada', `${'x'.repeat(79)}🎉 and more`)
  const client = await connectMcp(t, app, { path: '/mcp/banks/user-ada' })
  const { resources: [, memory] } = await client.listResources()
  t.equal(memory?.title, `${'x'.repeat(79)}…`)
})

t.test('an invalid bank name', async (t) => {
  const { post } = await testApp(t)
  const response = await post('/mcp/banks/%20x', rpc('tools/list'), MCP_HEADERS)
  t.equal(response.statusCode, 400)
  t.match(response.json(), { error: { data: { code: 'invalid_request', errors: [{ field: 'bank_id' }] } } })
})
