import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { memoryTools } from 'memory-gateway-client/ai-sdk'
import { startGateway } from './gateway.ts'

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

const rest = {
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
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
const { memory } = await startGateway()

test('an agent recalls, sees the memory as text, and answers', async () => {
  const model = new MockLanguageModelV4({
    doGenerate: [
      calls('retain', { content: 'Alice is allergic to peanuts.' }), calls('recall', { query: 'allergic' }),
      says('No peanuts.'),
    ],
  })
  const agent = new ToolLoopAgent({ model, tools: memoryTools(memory, { bank: 'user-alice' }) })
  const { text, steps } = await agent.generate({ prompt: 'What may I not eat?' })
  assert.equal(text, 'No peanuts.')
  assert.match(
    JSON.stringify(model.doGenerateCalls[2]?.prompt.at(-1)),
    /"type":"text","value":"1 of 1 memories.*Alice is allergic/,
  )
  const result = steps[1]?.staticToolResults[0]
  assert.ok(result?.toolName === 'recall' && result.output.ok)
  assert.equal(result.output.data.hits[0]?.text, 'Alice is allergic to peanuts.')
})

test('a refusal of the gateway reaches the model as an error that it can act on', async () => {
  const model = new MockLanguageModelV4({ doGenerate: [calls('recall', { query: 'tea' }), says('I may not.')] })
  const agent = new ToolLoopAgent({ model, tools: memoryTools(memory, { bank: 'user-bob' }) })
  assert.equal((await agent.generate({ prompt: 'What does Bob drink?' })).text, 'I may not.')
  assert.match(
    JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1)), /"type":"error-text","value":"Failed \(access_denied\)/,
  )
})

test('forget waits for approval by a person', async () => {
  const { memory_id: id } = await memory.retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  const model = new MockLanguageModelV4({ doGenerate: [calls('forget', { memory_ids: [id] })] })
  const agent = new ToolLoopAgent({ model, tools: memoryTools(memory, { bank: 'user-alice', tools: ['forget'] }) })
  const { content } = await agent.generate({ prompt: 'Forget my tea.' })
  assert.ok(content.some(({ type }) => type === 'tool-approval-request'))
  assert.equal((await memory.getMemory({ bank_id: 'user-alice', memory_id: id })).text, 'Alice drinks tea.')
})
