// In a clone: npm install --no-save langchain @langchain/core @langchain/openai && npx tsx examples/agents/langchain.ts
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { MemoryGatewayClient } from 'memory-gateway-client'
import { memoryTools } from 'memory-gateway-client/langchain'

const baseUrl = process.env.MEMORY_GATEWAY_URL ?? 'http://127.0.0.1:8080'
const memory = new MemoryGatewayClient({ baseUrl, principal: 'user:alice' })

const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-5-mini' }),
  systemPrompt: 'You are an assistant with a long-term memory. Recall before you answer, retain what you learn.',
  tools: memoryTools(memory, { bank: 'user-alice' }),
})
const { messages } = await agent.invoke({ messages: process.argv[2] ?? 'What may I not eat?' })
console.log(messages.at(-1)?.text)
