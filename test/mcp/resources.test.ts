import t from 'tap'
import { testApp } from '../helpers/app.js'
import { connectMcp, MCP_HEADERS, REVISIONS, rpc } from '../helpers/mcp.js'

function contentsOf ({ contents: [first] }: { contents: object[] }): Record<string, unknown> {
  return JSON.parse(String(Reflect.get(first ?? {}, 'text')))
}

for (const revision of REVISIONS) {
  t.test(`resources in the revision ${revision}`, async (t) => {
    const { app, retain, post } = await testApp(t)
    const id = await retain('team:a@b', 'The launch is in May.')
    for (let index = 0; index < 60; index++) await retain(`bank-${String(index).padStart(2, '0')}`, 'x')
    const client = await connectMcp(t, app, { revision })

    const all = await client.listResources()
    t.equal(all.resources.length, 61, 'the client reads every page')
    t.match(all.resources[0], { uri: 'memory://banks/bank-00', name: 'bank-00', description: '1 memory' })
    const { result } = (await post('/mcp', rpc('resources/list'), MCP_HEADERS)).json()
    t.equal(result.resources.length, 50)
    t.type(result.nextCursor, 'string')
    t.same(
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['memory://banks/{bank_id}', 'memory://banks/{bank_id}/memories/{memory_id}'],
    )

    const uri = 'memory://banks/team%3Aa%40b'
    t.match(contentsOf(await client.readResource({ uri })), {
      bank_id: 'team:a@b', memory_count: 1, memories: [{ memory_id: id }], truncated: false,
    })
    t.match(
      contentsOf(await client.readResource({ uri: `${uri}/memories/${id}` })),
      { memory_id: id, text: 'The launch is in May.' },
    )
    const complete = async (name: string, value: string) => (
      (await client.complete({
        ref: { type: 'ref/resource', uri: 'memory://banks/{bank_id}' }, argument: { name, value },
      })).completion
    )
    t.match(await complete('bank_id', 'te'), { values: ['team:a@b'], hasMore: false })
    t.equal((await complete('bank_id', 'bank-')).values.length, 60)
    t.same((await complete('memory_id', '')).values, [])
    for (const wrong of [
      `${uri}/memories/none`, 'memory://banks/', 'memory://banks/%ZZ', 'file:///etc/passwd',
      `${uri}/memories/${id}/more`,
    ]) {
      await t.rejects(client.readResource({ uri: wrong }), { code: -32602 }, wrong)
    }
  })
}

t.test('a resource without the permission to read it', async (t) => {
  const { app } = await testApp(t, { file: { access_control: { enabled: true, default_policy: 'deny' } } })
  const client = await connectMcp(t, app, { headers: { 'x-service-principal': 'user:ada' } })
  await t.rejects(client.readResource({ uri: 'memory://banks/team' }), {
    code: -32000, data: { code: 'access_denied', request_id: String },
  })
  await t.rejects(
    client.getPrompt({ name: 'answer_with_memory', arguments: { bank_id: 'team', question: 'x' } }),
    { code: -32000, data: { code: 'access_denied' } },
  )
})

t.test('prompts are listed and filled in', async (t) => {
  const { app, retain } = await testApp(t)
  const id = await retain('team', 'The launch is in May.')
  const client = await connectMcp(t, app)
  t.same((await client.listPrompts()).prompts.map(({ name }) => name), [
    'answer_with_memory', 'remember_conversation', 'review_memories',
  ])
  const { messages } = await client.getPrompt({
    name: 'answer_with_memory', arguments: { bank_id: 'team', question: 'When is the launch?' },
  })
  t.match(messages, [{ role: 'user', content: { type: 'text', text: new RegExp(id) } }])
  await t.rejects(
    client.getPrompt({ name: 'answer_with_memory', arguments: { bank_id: 'team' } }),
    { code: -32602, message: /question: is required/ },
  )
  await t.rejects(client.getPrompt({ name: 'none' }), { code: -32602, message: /Unknown prompt: none/ })
})
