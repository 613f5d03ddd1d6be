import { createTool, type ToolSet } from './tool.js'
import type { MemoryTool } from './types.js'

export function retainTool (set: ToolSet): MemoryTool<'retain'> {
  const { client, banks, showsIds, options: { retain: defaults } } = set
  return createTool(set, {
    name: 'retain',
    description: 'Stores a fact in long-term memory, for later conversations: preferences, decisions, names, dates, ' +
      'what the user asks you to remember. One call a fact, in a whole sentence that is understood without this ' +
      'conversation ("Alice is allergic to peanuts", not "she is allergic"). Do not store passwords or other secrets.',
    properties: {
      content: { type: 'string', description: 'The fact, in a whole sentence that names whom or what it is about.' },
      occurred_at: {
        type: 'string',
        description: 'When it happened, if that matters: RFC 3339 with an offset, such as 2026-05-01T10:00:00Z.',
      },
      speaker: { type: 'string', description: 'Whose words these are, if not yours: `user` or a name.' },
      tags: { type: 'array', description: 'A few words to file it under.', items: { type: 'string' } },
      ...banks.property,
    },
    required: ['content', ...banks.required],
    isWrite: true,
    run: async (fields, call) => {
      const content = fields.text('content')
      const occurredAt = fields.optionalText('occurred_at')
      const speaker = fields.optionalText('speaker')
      const tags = [...new Set([...defaults?.tags ?? [], ...fields.optionalTexts('tags') ?? []])]
      const bank = banks.bankIn(fields)
      fields.check()
      const data = await client.retain({
        ...defaults,
        bank_id: bank,
        content,
        ...(occurredAt !== undefined && { occurred_at: occurredAt }),
        ...(speaker !== undefined && { speaker }),
        ...(tags.length > 0 && { tags }),
      }, call)
      const outcome = data.deduplicated ? 'It was already known.' : 'Stored.'
      return { data, text: showsIds ? `${outcome} Its id is ${data.memory_id}.` : outcome }
    },
  })
}
