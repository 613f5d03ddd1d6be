import {
  AIMessage, type BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage,
} from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { fakeModel } from '@langchain/core/testing'
import t from 'tap'
import {
  conversationMessages, type LangChainMemoryTool, MemoryGatewayChatMessageHistory, MemoryGatewayRetriever, memoryTools,
} from '../../src/langchain.js'
import { gateway } from '../gateway.js'
import { HostileServer, silent } from '../hostile-server.js'

const OWNERS = { file: { access_control: { enabled: true, default_policy: 'owner_only' as const } } }
const alice = { principal: 'user:alice' }

/** What an agent of LangChain does: calls the tools that the model asks for, until it asks for none. */
async function agent (
  model: ReturnType<typeof fakeModel>, tools: LangChainMemoryTool[], question: string,
): Promise<BaseMessage[]> {
  const bound = model.bindTools(tools)
  const messages: BaseMessage[] = [new HumanMessage(question)]
  for (;;) {
    const answer = await bound.invoke(messages)
    messages.push(answer)
    const calls = AIMessage.isInstance(answer) ? answer.tool_calls ?? [] : []
    if (calls.length === 0) return messages
    for (const call of calls) {
      const called = tools.find(({ name }) => name === call.name)
      messages.push(await called!.invoke({ ...call, type: 'tool_call' }) as ToolMessage)
    }
  }
}

t.test('an agent recalls, sees the memory as text, and answers', async (t) => {
  const { client } = await gateway(t)
  const model = fakeModel()
    .respondWithTools([{ name: 'retain', args: { content: 'Alice is allergic to peanuts.' }, id: '1' }])
    .respondWithTools([{ name: 'recall', args: { query: 'allergic' }, id: '2' }])
    .respond(new AIMessage('No peanuts.'))
  const tools = memoryTools(client(alice), { bank: 'user-alice' })
  const messages = await agent(model, tools, 'What may I not eat?')
  t.equal(messages.at(-1)?.text, 'No peanuts.')
  const [, told] = messages.filter((message) => ToolMessage.isInstance(message))
  t.match(told!.text, /^1 of 1 memories.*\n\[1\] \S+: Alice is allergic to peanuts\.$/)
  t.equal(told!.status, 'success')
  t.match(told!.artifact, { ok: true, data: { hits: [{ text: 'Alice is allergic to peanuts.', score: Number }] } })
  t.match(tools[0]!.schema, { required: ['content'], additionalProperties: false })
})

t.test('a refusal of the gateway is a tool message with the status "error"', async (t) => {
  const { client } = await gateway(t, OWNERS)
  const model = fakeModel()
    .respondWithTools([{ name: 'recall', args: { query: 'tea' }, id: '1' }]).respond(new AIMessage('I may not.'))
  const tools = memoryTools(client(alice), { bank: 'user-bob' })
  const messages = await agent(model, tools, 'What does Bob drink?')
  const refused = messages.find((message) => ToolMessage.isInstance(message))!
  t.match(refused, { status: 'error', tool_call_id: '1', name: 'recall', artifact: { error: { status: 403 } } })
  t.match(refused.text, /access_denied.*Do not try it again/)
  t.equal(messages.at(-1)?.text, 'I may not.')
  // Called by a program, without a model, a tool gives its text.
  const [, recall] = tools
  t.match(await recall!.invoke({ query: 'tea' }), /^Failed \(access_denied\)/)
})

t.test('an input that violates the schema is thrown with the reason, as is usual for tools of LangChain', async (t) => {
  const { client } = await gateway(t)
  const [, recall] = memoryTools(client(alice), { bank: 'user-alice' })
  await t.rejects(
    recall!.invoke({ query: 'x', bank_id: 'user-bob' }), { message: /did not match expected schema[^]*bank_id/ },
  )
})

t.test('the retriever returns documents, also as a part of a chain', async (t) => {
  const { client } = await gateway(t)
  const memory = client(alice)
  for (const drink of ['tea', 'coffee']) {
    await memory.retain({
      bank_id: 'user-alice',
      content: `Alice drinks ${drink}.`,
      tags: [drink],
      metadata: { cups: 2 },
      document_id: 'd-1',
    })
  }
  const retriever = new MemoryGatewayRetriever({ client: memory, request: { bank_id: 'user-alice', max_results: 2 } })
  const documents = await retriever.invoke('Who drinks tea?')
  t.equal(documents.length, 2)
  const [best, next] = documents
  t.match(best, {
    id: /^[\da-f-]{36}$/,
    pageContent: 'Alice drinks tea.',
    metadata: {
      bank_id: 'user-alice', tags: ['tea'], metadata: { cups: 2 }, document_id: 'd-1', occurred_at: null, score: Number,
    },
  })
  t.equal(best!.id, best!.metadata.memory_id)
  t.ok(best!.metadata.score > next!.metadata.score)
  const filtered = new MemoryGatewayRetriever({ client: memory, request: { banks: ['user-alice'], tags: ['coffee'] } })
  const texts = RunnableLambda.from((found: typeof documents) => found.map(({ pageContent }) => pageContent))
  const chain = filtered.pipe(texts)
  t.same(await chain.invoke('drinks'), ['Alice drinks coffee.'])
  t.notMatch(JSON.stringify(filtered), /alice/)
})

t.test('a refusal of the retriever is thrown', async (t) => {
  const { client } = await gateway(t, OWNERS)
  const retriever = new MemoryGatewayRetriever({ client: client(alice), request: { bank_id: 'user-bob' } })
  await t.rejects(retriever.invoke('tea'), { code: 'access_denied', status: 403 })
})

t.test('an abort signal ends the request of a tool and of the retriever', async (t) => {
  for (const kind of ['tool', 'retriever']) {
    const server = await HostileServer.start(t)
    const leaving = new AbortController()
    let closed = false
    const ended = new Promise<void>((resolve) => {
      server.meets((response, request) => {
        response.on('close', () => { closed = true; resolve() })
        leaving.abort(new Error('the user left'))
        return silent(response, request)
      })
    })
    const { client } = server.client()
    const [, recall] = memoryTools(client, { bank: 'b' })
    const retriever = new MemoryGatewayRetriever({ client, request: { bank_id: 'b' } })
    const config = { signal: leaving.signal }
    await t.rejects(kind === 'tool' ? recall!.invoke({ query: 'x' }, config) : retriever.invoke('x', config))
    await ended
    t.ok(closed, kind)
  }
})

t.test('a chat history keeps what is said, also when it is said again', async (t) => {
  const conversation = (await gateway(t)).client().conversation('bank', 'talk')
  const history = new MemoryGatewayChatMessageHistory(conversation)
  for (let time = 0; time < 2; time++) {
    await history.addMessages([new HumanMessage('ok'), new AIMessage({ content: 'Done.', id: `run-${time}` })])
  }
  await history.addMessages([
    new AIMessage({ content: '', tool_calls: [{ id: '1', name: 'weather', args: {} }] }),
    new ToolMessage({ tool_call_id: '1', content: '{}' }), new ChatMessage('Hm.', 'critic'),
    new HumanMessage({ content: [{ type: 'text', text: 'And now?' }], name: 'Ada' }),
  ])
  const kept = await history.getMessages()
  t.same(kept.map(({ type, text, name }) => [type, text, name]), [
    ['human', 'ok', undefined], ['ai', 'Done.', undefined], ['human', 'ok', undefined], ['ai', 'Done.', undefined],
    ['generic', 'Hm.', undefined], ['human', 'And now?', 'Ada'],
  ])
  t.equal(kept[1]!.id, 'run-0')
  await history.addMessages(kept)
  t.equal((await history.getMessages()).length, 6, 'what it gave is known by its ids')
  await history.clear()
  t.same(await history.getMessages(), [])
  const transcript = conversationMessages([new SystemMessage('Be brief.'), new HumanMessage('Hello.')])
  t.match(await conversation.append(transcript), { stored: 2 })
  t.match(await conversation.append(transcript), { stored: 0, repeated: 2 })
})
