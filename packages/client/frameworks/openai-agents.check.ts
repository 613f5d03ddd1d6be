import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, run, setTracingDisabled } from '@openai/agents'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import {
  conversationMessages, conversationSession, memoryTools, type OpenAiMemoryToolOutput,
} from 'memory-gateway-client/openai-agents'
import { startGateway, startSilentGateway } from './gateway.ts'

setTracingDisabled(true)
const { memory } = await startGateway()

function outputOf (item: { type: string, output?: unknown } | undefined): OpenAiMemoryToolOutput {
  assert.equal(item?.type, 'tool_call_output_item')
  return item?.output as OpenAiMemoryToolOutput
}

test('an agent recalls, sees the memory as text, and answers', async () => {
  const model = new ScriptedModel([
    [
      functionCall(
        'retain', { content: 'Alice is allergic to peanuts.', occurred_at: null, tags: null }, { callId: '1' },
      ),
    ],
    [functionCall('recall', { query: 'allergic', occurred_after: null, occurred_before: null }, { callId: '2' })],
    [assistantMessage('No peanuts.')],
  ])
  const tools = memoryTools(memory, { bank: 'user-alice' })
  const { finalOutput, newItems } = await run(new Agent({ name: 'a', model, tools }), 'What may I not eat?')
  assert.equal(finalOutput, 'No peanuts.')
  const input = JSON.stringify(model.calls[2]?.request.input)
  assert.match(input, /1 of 1 memories, best first.*Alice is allergic to peanuts\./)
  // What the program gets is not sent to the model.
  assert.doesNotMatch(input, /total_available/)
  const told = outputOf(newItems.filter(({ type }) => type === 'tool_call_output_item')[1])
  assert.ok(told.ok && 'hits' in told.data && told.data.hits[0]?.text === 'Alice is allergic to peanuts.')
  const { parameters } = tools[0]!
  assert.deepEqual(parameters.required, Object.keys(parameters.properties))
})

test('a refusal of the gateway is a result that the model can act on', async () => {
  const model = new ScriptedModel([
    [functionCall('recall', { query: 'tea', occurred_after: null, occurred_before: null }, { callId: '1' })],
    [assistantMessage('I may not.')],
  ])
  const agent = new Agent({ name: 'a', model, tools: memoryTools(memory, { bank: 'user-bob' }) })
  const { finalOutput, newItems } = await run(agent, 'What does Bob drink?')
  assert.equal(finalOutput, 'I may not.')
  const told = outputOf(newItems.find(({ type }) => type === 'tool_call_output_item'))
  assert.ok(!told.ok && told.error.status === 403 && told.text.endsWith('Do not try it again.'))
})

test('forget waits for approval by a person', async () => {
  const { memory_id: id } = await memory.retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  const model = new ScriptedModel([
    [functionCall('forget', { memory_ids: [id] }, { callId: '1' })], [assistantMessage('Gone.')],
  ])
  const agent = new Agent({ name: 'a', model, tools: memoryTools(memory, { bank: 'user-alice', tools: ['forget'] }) })
  const { interruptions, state } = await run(agent, 'Forget my tea.')
  assert.equal(interruptions.length, 1)
  assert.equal((await memory.getMemory({ bank_id: 'user-alice', memory_id: id })).text, 'Alice drinks tea.')
  state.approve(interruptions[0]!)
  assert.equal((await run(agent, state)).finalOutput, 'Gone.')
  await assert.rejects(memory.getMemory({ bank_id: 'user-alice', memory_id: id }), { status: 404 })
})

test('the abort signal of the run ends the request to the gateway', async () => {
  const leaving = new AbortController()
  const silent = await startSilentGateway(() => { leaving.abort() })
  const model = new ScriptedModel([
    [functionCall('recall', { query: 'tea', occurred_after: null, occurred_before: null }, { callId: '1' })],
    [assistantMessage('late')],
  ])
  const agent = new Agent({ name: 'a', model, tools: memoryTools(silent.memory, { bank: 'b' }) })
  const ran = run(agent, 'What does Alice drink?', { signal: leaving.signal }).catch(() => undefined)
  await Promise.all([silent.left, ran])
})

test('a session keeps what is said in a conversation', async () => {
  const conversation = memory.conversation('user-alice', 'session')
  const session = conversationSession(conversation)
  // As of an endpoint that has no ids.
  const says = (text: string) => [assistantMessage(text, { id: 'FAKE_ID' })]
  const model = new ScriptedModel([says('Hello.'), says('Hello again.')])
  const agent = new Agent({ name: 'a', model })
  for (let time = 0; time < 2; time++) await run(agent, 'Hi.', { session })
  assert.deepEqual((await conversation.last()).map(({ role, content }) => [role, content]), [
    ['user', 'Hi.'], ['assistant', 'Hello.'], ['user', 'Hi.'], ['assistant', 'Hello again.'],
  ])
  assert.match(JSON.stringify(model.calls[1]?.request.input), /Hi\..*Hello\..*Hi\./)
  assert.equal((await session.popItem())?.type, 'message')
  assert.equal((await session.getItems(2)).length, 2)
  await session.clearSession()
  assert.deepEqual(await session.getItems(), [])
  assert.deepEqual(conversationMessages(says('Hi.')), [{ role: 'assistant', content: 'Hi.' }])
})
