import type { ForgetRequest } from '../types.js'
import type { Fields } from './fields.js'
import { createTool, type ToolSet } from './tool.js'
import type { MemoryTool, PropertySchema } from './types.js'

const FILTERS: Record<string, PropertySchema> = {
  document_ids: { type: 'array', description: 'Documents or conversations to forget.', items: { type: 'string' } },
  speakers: {
    type: 'array', description: 'Whose words to forget: names, `user` or `assistant`.', items: { type: 'string' },
  },
  occurred_after: { type: 'string', description: 'Only what happened from then on: RFC 3339 with an offset.' },
  occurred_before: { type: 'string', description: 'Only what happened before: RFC 3339 with an offset.' },
}

export function forgetTool (set: ToolSet): MemoryTool<'forget'> {
  const { client, banks, options: { filter: { min_trust: _, ...filter } = {} } } = set
  return createTool(set, {
    name: 'forget',
    description: 'Deletes memories for good, and only when the user asks for it: those whose ids recall has just ' +
      'given, or, without ids, all that pass every other field.',
    properties: {
      memory_ids: { type: 'array', description: 'Ids of the memories, from recall.', items: { type: 'string' } },
      ...FILTERS,
      ...banks.property,
    },
    required: banks.required,
    isWrite: true,
    run: async (fields, call) => {
      const ids = fields.optionalTexts('memory_ids')
      const bank = banks.bankIn(fields)
      const filtered = { ...filter, bank_id: bank, ...filtersIn(fields) }
      const isFiltered = hasFilter(filtered)
      if (isFiltered === (ids !== undefined)) {
        fields.addProblem('memory_ids', `is required, or one or more of ${Object.keys(FILTERS).join(', ')}, not both`)
      }
      fields.check()
      const data = await client.forget(isFiltered ? filtered : { bank_id: bank, memory_ids: ids ?? [] }, call)
      const notFound = isFiltered ? 0 : new Set(ids).size - data.deleted_count
      return { data, text: `Deleted: ${data.deleted_count}.${notFound > 0 ? ` Not found: ${notFound}.` : ''}` }
    },
  })
}

function filtersIn (fields: Fields) {
  const documentIds = fields.optionalTexts('document_ids')
  const speakers = fields.optionalTexts('speakers')
  const [after, before] = [fields.optionalText('occurred_after'), fields.optionalText('occurred_before')]
  return {
    ...(documentIds !== undefined && { document_ids: documentIds }),
    ...(speakers !== undefined && { speakers }),
    ...(after !== undefined && { occurred_after: after }),
    ...(before !== undefined && { occurred_before: before }),
  }
}

/** Whether the model chose memories by a filter. Those of the program alone choose none. */
function hasFilter (request: { bank_id: string }): request is ForgetRequest {
  return Object.keys(FILTERS).some((name) => Object.hasOwn(request, name))
}
