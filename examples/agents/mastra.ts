// In a clone: npm install --no-save @mastra/core && npx tsx examples/agents/mastra.ts
import { Agent } from '@mastra/core/agent'
import { MemoryGatewayClient } from 'memory-gateway-client'
import { memoryTools } from 'memory-gateway-client/mastra'

const baseUrl = process.env.MEMORY_GATEWAY_URL ?? 'http://127.0.0.1:8080'
const memory = new MemoryGatewayClient({ baseUrl, principal: 'user:alice' })

const agent = new Agent({
  id: 'assistant',
  name: 'Assistant',
  model: 'openai/gpt-5-mini',
  instructions: 'You are an assistant with a long-term memory. Recall before you answer, retain what you learn.',
  tools: memoryTools(memory, { bank: 'user-alice' }),
})
const { text } = await agent.generate(process.argv[2] ?? 'What may I not eat?')
console.log(text)
