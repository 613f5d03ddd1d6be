import { createTool, type ToolSet } from './tool.js'
import type { MemoryTool } from './types.js'

export function forgetTool (set: ToolSet): MemoryTool<'forget'> {
  const { client, banks } = set
  return createTool(set, {
    name: 'forget',
    description: 'Deletes memories for good. Only when the user asks for it, and only with ids that recall has just ' +
      'given.',
    properties: {
      memory_ids: { type: 'array', description: 'Ids of the memories, from recall.', items: { type: 'string' } },
      ...banks.property,
    },
    required: ['memory_ids', ...banks.required],
    isWrite: true,
    run: async (fields, call) => {
      const ids = fields.texts('memory_ids')
      const bank = banks.bankIn(fields)
      fields.check()
      const data = await client.forget({ bank_id: bank, memory_ids: ids }, call)
      const notFound = new Set(ids).size - data.deleted_count
      return { data, text: `Deleted: ${data.deleted_count}.${notFound > 0 ? ` Not found: ${notFound}.` : ''}` }
    },
  })
}
