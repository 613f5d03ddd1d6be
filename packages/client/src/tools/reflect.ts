import { createTool, type ToolSet } from './tool.js'
import type { MemoryTool } from './types.js'

export function reflectTool (set: ToolSet): MemoryTool<'reflect'> {
  const { client, banks, maxTokens, options: { filter } } = set
  return createTool(set, {
    name: 'reflect',
    description: 'Answers a question from long-term memory in a few sentences. Takes longer than recall; use it when ' +
      'the answer needs many memories together ("What has the team decided about the release, and why?"). Marks such ' +
      'as [1] stand for the memories that the answer rests on.',
    properties: {
      query: { type: 'string', description: 'The question, understood without this conversation.' },
      ...banks.listProperty,
    },
    required: ['query'],
    run: async (fields, call) => {
      const query = fields.text('query')
      const bankFields = banks.banksIn(fields)
      fields.check()
      const data = await client.reflect({ ...filter, ...bankFields, query, max_tokens: maxTokens }, call)
      return { data, text: data.answer }
    },
  })
}
