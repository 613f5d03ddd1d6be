// In a clone: npm install --no-save @openai/agents && npx tsx examples/agents/openai-agents.ts
import { Agent, run } from '@openai/agents'
import { MemoryGatewayClient } from 'memory-gateway-client'
import { memoryTools } from 'memory-gateway-client/openai-agents'

const baseUrl = process.env.MEMORY_GATEWAY_URL ?? 'http://127.0.0.1:8080'
const memory = new MemoryGatewayClient({ baseUrl, principal: 'user:alice' })

const agent = new Agent({
  name: 'Assistant',
  model: 'gpt-5-mini',
  instructions: 'You are an assistant with a long-term memory. Recall before you answer, retain what you learn.',
  tools: memoryTools(memory, { bank: 'user-alice' }),
})
const { finalOutput } = await run(agent, process.argv[2] ?? 'What may I not eat?')
console.log(finalOutput)
