import { generateText, type ModelMessage, stepCountIs, ToolLoopAgent, type UIMessage } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import t from 'tap'
import { conversationMessages, memoryTools } from '../../src/ai-sdk.js'
import { gateway } from '../gateway.js'
import { silent, HostileServer } from '../hostile-server.js'

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
const rest = {
  usage: { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } },
  warnings: [],
}
const calls = (toolName: string, input: object): Generated => ({
  ...rest,
  content: [{ type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls', raw: undefined },
})
const says = (text: string): Generated => (
  { ...rest, content: [{ type: 'text', text }], finishReason: { unified: 'stop', raw: undefined } }
)

t.test('an agent recalls, sees the memory as text, and answers', async (t) => {
  const { client } = await gateway(t)
  const memory = client({ principal: 'user:alice' })
  const model = new MockLanguageModelV3({
    doGenerate: [
      calls('retain', { content: 'Alice is allergic to peanuts.' }), calls('recall', { query: 'allergic' }),
      says('No peanuts.'),
    ],
  })
  const agent = new ToolLoopAgent({ model, tools: memoryTools(memory, { bank: 'user-alice' }) })
  const { text, steps } = await agent.generate({ prompt: 'I am allergic to peanuts. What may I not eat?' })
  t.equal(text, 'No peanuts.')

  const [first, , third] = model.doGenerateCalls
  t.match(first!.tools, [
    { name: 'retain', inputSchema: { required: ['content'] } }, { name: 'recall' },
    { name: 'reflect', description: /question/ },
  ])
  t.match(third!.prompt.at(-1), {
    role: 'tool',
    content: [
      {
        toolName: 'recall',
        output: { type: 'text', value: /^1 of 1 memories.*\n\[1\] \S+: Alice is allergic to peanuts\.$/ },
      },
    ],
  })
  const result = steps[1]!.staticToolResults[0]!
  // The type of the output follows from the name of the tool.
  if (result.toolName !== 'recall' || !result.output.ok) throw new Error('no hit')
  t.match(result.output.data.hits, [{ text: 'Alice is allergic to peanuts.', score: Number }])
})

t.test('a refusal of the gateway reaches the model as an error that it can act on', async (t) => {
  const { client } = await gateway(t, { file: { access_control: { enabled: true, default_policy: 'owner_only' } } })
  const model = new MockLanguageModelV3({
    doGenerate: [
      calls('recall', { query: 'x' }), calls('recall', { query: 1, bank_id: 'user-alice' }), says('I may not.'),
    ],
  })
  const { text } = await generateText({
    model,
    tools: memoryTools(client({ principal: 'user:alice' }), { bank: 'user-bob' }),
    stopWhen: stepCountIs(5),
    prompt: 'What does Bob drink?',
  })
  t.equal(text, 'I may not.')
  const [, second, third] = model.doGenerateCalls
  const value = /access_denied.*'user:alice' is denied 'read' on bank 'user-bob'.*Do not try it again/
  t.match(second!.prompt.at(-1), { content: [{ output: { type: 'error-text', value } }] })
  const wrong = /bank_id: is not a field of this tool.*query: must be a string.*Correct the input/
  t.match(third!.prompt.at(-1), { content: [{ output: { type: 'error-text', value: wrong } }] })
})

t.test('forget waits for approval by a person, unless the program says otherwise', async (t) => {
  const { client } = await gateway(t)
  const memory = client({ principal: 'user:alice' })
  const { memory_id: id } = await memory.retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  for (const forgetNeedsApproval of [undefined, false] as const) {
    const model = new MockLanguageModelV3({ doGenerate: [calls('forget', { memory_ids: [id] }), says('Gone.')] })
    const { content, text } = await generateText({
      model,
      tools: memoryTools(memory, {
        bank: 'user-alice', tools: ['forget'], ...(forgetNeedsApproval !== undefined && { forgetNeedsApproval }),
      }),
      stopWhen: stepCountIs(5),
      prompt: 'Forget my tea.',
    })
    const { memory_count: count } = await memory.getBankStatistics({ bank_id: 'user-alice' })
    const asked = content.some(({ type }) => type === 'tool-approval-request')
    t.same([asked, text, count], forgetNeedsApproval === false ? [false, 'Gone.', 0] : [true, '', 1])
  }
})

t.test('the abort signal of the run ends the request to the gateway', async (t) => {
  const server = await HostileServer.start(t)
  const leaving = new AbortController()
  server.meets((response, request) => {
    leaving.abort(new Error('the user left'))
    return silent(response, request)
  })
  const model = new MockLanguageModelV3({ doGenerate: [calls('recall', { query: 'x' }), says('late')] })
  const tools = memoryTools(server.client().client, { bank: 'b' })
  await t.rejects(
    generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'x', abortSignal: leaving.signal, maxRetries: 0 }),
  )
  t.equal(server.requests.length, 1)
})

t.test('the messages of useChat and of generateText are appended once', async (t) => {
  const conversation = (await gateway(t)).client().conversation('bank', 'talk')
  const shown: UIMessage[] = [
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Is it warm?' }] },
    {
      id: 'a1',
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'It is.' },
        { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,' },
      ],
    },
  ]
  t.match(await conversation.append(conversationMessages(shown)), { stored: 2 })
  t.match(await conversation.append(conversationMessages(shown)), { stored: 0, repeated: 2 })
  t.match((await conversation.messages()).messages, [
    { id: 'u1', role: 'user', content: 'Is it warm?' }, { id: 'a1', role: 'assistant', content: 'It is.' },
  ])
  const answered: UIMessage = { id: '', role: 'assistant', parts: [{ type: 'text', text: 'Not now.' }] }
  t.match(await conversation.append(conversationMessages([...shown, answered])), { stored: 1, repeated: 2 })
  t.match(await conversation.append(conversationMessages([...shown, answered])), { stored: 0, repeated: 3 })
  const sent: ModelMessage[] = [
    { role: 'user', content: 'Is it warm?' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'weather', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: '1', toolName: 'weather', output: { type: 'text', value: 'hot' } }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'It is' }, { type: 'text', text: 'hot.' }] },
  ]
  const other = (await gateway(t)).client().conversation('bank', 'other')
  t.match(await other.append(conversationMessages(sent)), { stored: 2, repeated: 0 })
  t.same((await other.last()).map(({ content }) => content), ['Is it warm?', 'It is\nhot.'])
  t.match(await other.pop(), { deleted_count: 1, messages: [{ content: 'It is\nhot.' }] })
  t.match(await other.delete(), { deleted_count: 1 })
})
