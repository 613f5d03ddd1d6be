import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, type ToolsInput } from '@mastra/core/agent'
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'
import { memoryTools } from 'memory-gateway-client/mastra'
import { startGateway, startSilentGateway } from './gateway.ts'

type Config = ConstructorParameters<typeof MastraLanguageModelV2Mock>[0]
type Generate = Extract<Config['doGenerate'], (...input: never[]) => unknown>
type Generated = Awaited<ReturnType<Generate>>

const rest = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] }
const calls = (toolName: string, input: object): Generated => ({
  ...rest,
  content: [{ type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) }],
  finishReason: 'tool-calls',
})
const says = (text: string): Generated => ({ ...rest, content: [{ type: 'text', text }], finishReason: 'stop' })

/** A model that answers so, one after the other, and the prompts that it got. */
function scripted (...answers: Generated[]): { model: MastraLanguageModelV2Mock, prompts: string[] } {
  const prompts: string[] = []
  const doGenerate: Generate = async ({ prompt }) => answers[prompts.push(JSON.stringify(prompt)) - 1]!
  return { model: new MastraLanguageModelV2Mock({ doGenerate }), prompts }
}

const agentOf = (model: MastraLanguageModelV2Mock, tools: ToolsInput): Agent => (
  new Agent({ id: 'a', name: 'a', instructions: 'Remember.', model, tools })
)
const { memory } = await startGateway()

test('an agent recalls, sees the memory as text, and answers', async () => {
  const { model, prompts } = scripted(
    calls('retain', { content: 'Alice is allergic to peanuts.' }), calls('recall', { query: 'allergic' }),
    says('No peanuts.'),
  )
  const { text, toolResults } = await agentOf(model, memoryTools(memory, { bank: 'user-alice' }))
    .generate('What may I not eat?')
  assert.equal(text, 'No peanuts.')
  const prompt = prompts[2] ?? ''
  assert.match(prompt, /1 of 1 memories, best first.*Alice is allergic to peanuts\./)
  // What the program gets is not sent to the model.
  assert.doesNotMatch(prompt, /total_available/)
  assert.match(JSON.stringify(toolResults), /total_available/)
})

test('refusals of the gateway and of Mastra are results that the model can act on', async () => {
  const { model, prompts } = scripted(
    calls('recall', { query: 'tea' }), calls('recall', { query: 7, bank_id: 'user-alice' }), says('I may not.'),
  )
  const { text } = await agentOf(model, memoryTools(memory, { bank: 'user-bob' })).generate('What does Bob drink?')
  assert.equal(text, 'I may not.')
  assert.match(prompts[1] ?? '', /Failed \(access_denied\).*Do not try it again/)
  assert.match(prompts[2] ?? '', /"value":"Tool input validation failed for recall.*query: must be string/)
})

test('forget asks for approval unless the program says otherwise', async () => {
  const { forget } = memoryTools(memory, { bank: 'user-alice', tools: ['forget'] })
  assert.equal(forget.requireApproval, true)
  const { forget: free } = memoryTools(memory, { bank: 'user-alice', tools: ['forget'], forgetNeedsApproval: false })
  assert.equal(free.requireApproval, false)
  const { memory_id: id } = await memory.retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  const { model } = scripted(calls('forget', { memory_ids: [id] }), says('Gone.'))
  assert.equal((await agentOf(model, { forget: free }).generate('Forget my tea.')).text, 'Gone.')
  await assert.rejects(memory.getMemory({ bank_id: 'user-alice', memory_id: id }), { status: 404 })
})

test('the abort signal of the run ends the request to the gateway', async () => {
  const leaving = new AbortController()
  const silent = await startSilentGateway(() => { leaving.abort() })
  const { model } = scripted(calls('recall', { query: 'tea' }), says('late'))
  const agent = agentOf(model, memoryTools(silent.memory, { bank: 'b' }))
  const ran = agent.generate('What does Alice drink?', { abortSignal: leaving.signal }).catch(() => undefined)
  await Promise.all([silent.left, ran])
})
