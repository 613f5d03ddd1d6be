import { tool, type AgentInputItem, type FunctionTool, type Session } from '@openai/agents'
import type { MemoryGatewayClient } from './client.js'
import type { Conversation } from './conversation.js'
import {
  memoryTools as plainTools, type ApprovalOptions, type DefaultToolName, type InputSchema, type MemoryTool,
  type MemoryToolName, type MemoryToolResult, type MemoryToolsOptions,
} from './tools/index.js'
import type { ConversationMessage, StoredMessage } from './types.js'

export type * from './tools/types.js'

/** The model receives the text; the program finds the whole result in `output` of the run's item. */
export type OpenAiMemoryToolOutput = MemoryToolResult & { type: 'text' }

/** A schema in the form that the model's API requires for `strict`. */
export interface StrictInputSchema {
  type: 'object'
  properties: Record<string, object>
  required: string[]
  additionalProperties: false
}

export type OpenAiMemoryTool = FunctionTool<unknown, StrictInputSchema, OpenAiMemoryToolOutput>

/** Memory as tools for agents of the OpenAI Agents SDK (`@openai/agents`). */
export function memoryTools<Name extends MemoryToolName = DefaultToolName> (
  client: MemoryGatewayClient, options: MemoryToolsOptions<Name> & ApprovalOptions,
): OpenAiMemoryTool[] {
  const { forgetNeedsApproval = true } = options
  const plain: MemoryTool[] = Object.values(plainTools(client, options))
  return plain.map(({ name, description, inputSchema, run }) => tool({
    name,
    description,
    parameters: strictSchema(inputSchema),
    strict: true,
    needsApproval: name === 'forget' && forgetNeedsApproval,
    execute: async (input, _context, details): Promise<OpenAiMemoryToolOutput> => (
      { type: 'text', ...await run(input, details?.signal) }
    ),
  }))
}

/** In a strict schema every member is required, so an optional one is nullable instead. */
function strictSchema ({ properties, required }: InputSchema): StrictInputSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => (
      [name, required.includes(name) ? schema : { ...schema, type: [schema.type, 'null'] }]
    ))),
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** What the framework states as the id of each message of an endpoint that gives none (Chat Completions). */
const NO_ID = 'FAKE_ID'

/**
 * The items of a run in the form of a conversation, for `append`: texts alone, without reasoning, files, calls of tools
 * and their results.
 */
export function conversationMessages (items: readonly AgentInputItem[]): ConversationMessage[] {
  return items.flatMap((item): ConversationMessage[] => {
    if (!('role' in item)) return []
    const { role, content: parts, id } = item
    const content = typeof parts === 'string'
      ? parts
      : parts.flatMap((part) => part.type === 'input_text' || part.type === 'output_text' ? part.text : []).join('\n')
    return content.trim() === '' ? [] : [{ role, content, ...id !== undefined && id !== NO_ID && { id } }]
  })
}

/** A conversation as the session of runs. It has texts alone: calls of tools are lost. */
export function conversationSession (conversation: Conversation): Session {
  return {
    getSessionId: async () => conversation.id,
    getItems: async (limit) => (await conversation.last(limit)).map(toItem),
    // Every item is new, even one that says what another said, so that each gets an id.
    addItems: async (items) => {
      const added = conversationMessages(items)
        .map((message) => ({ ...message, id: message.id ?? crypto.randomUUID() }))
      if (added.length > 0) await conversation.append(added)
    },
    popItem: async () => {
      const [last] = (await conversation.pop()).messages ?? []
      return last && toItem(last)
    },
    clearSession: async () => { await conversation.delete() },
  }
}

function toItem ({ role, content }: StoredMessage): AgentInputItem {
  if (role === 'assistant') {
    return { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text: content }] }
  }
  return { type: 'message', role: role === 'system' ? role : 'user', content }
}
