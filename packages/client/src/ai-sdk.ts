import { jsonSchema, tool, type ModelMessage, type Tool, type UIMessage } from 'ai'
import type { MemoryGatewayClient } from './client.js'
import {
  memoryTools as plainTools, type ApprovalOptions, type DefaultToolName, type MemoryTool, type MemoryToolInputs,
  type MemoryToolName, type MemoryToolResult, type MemoryToolsOptions,
} from './tools/index.js'

import type { ConversationMessage } from './types.js'

export type * from './tools/types.js'

/** Tools of the Vercel AI SDK, by name. */
export type AiSdkMemoryTools<Name extends MemoryToolName = DefaultToolName> = {
  [One in Name]: Tool<MemoryToolInputs[One], MemoryToolResult<One>>
}

/** Memory as tools for `generateText`, `streamText` and agents of the AI SDK (`ai` 6 and 7). */
export function memoryTools<Name extends MemoryToolName = DefaultToolName> (
  client: MemoryGatewayClient, options: MemoryToolsOptions<Name> & ApprovalOptions,
): AiSdkMemoryTools<Name> {
  const { forgetNeedsApproval = true } = options
  const plain: MemoryTool[] = Object.values(plainTools(client, options))
  return Object.fromEntries(plain.map(({ name, description, inputSchema, run }) => [name, tool({
    description,
    // The tool itself validates its input, with messages that a model can act on.
    inputSchema: jsonSchema<unknown>(inputSchema),
    needsApproval: name === 'forget' && forgetNeedsApproval,
    execute: async (input: unknown, { abortSignal }): Promise<MemoryToolResult> => await run(input, abortSignal),
    // The model receives the text; the program finds the data in the output of the tool's result.
    toModelOutput: ({ output: { ok, text } }) => ({ type: ok ? 'text' as const : 'error-text' as const, value: text }),
  })])) as unknown as AiSdkMemoryTools<Name>
}

/**
 * The messages of `useChat` or of `generateText` in the form of a conversation, for `append`: texts alone, without
 * reasoning, files, calls of tools and their results. Those of `useChat` keep their ids, so that each is appended when
 * it is complete.
 */
export function conversationMessages (
  messages: ReadonlyArray<ModelMessage | UIMessage>,
): ConversationMessage[] {
  return messages.flatMap((message): ConversationMessage[] => {
    const parts = 'parts' in message ? message.parts : message.content
    const content = typeof parts === 'string'
      ? parts
      : parts.flatMap((part) => part.type === 'text' ? part.text : []).join('\n')
    if (message.role === 'tool' || content.trim() === '') return []
    // `useChat` begins an answer with an empty id where the server gives none.
    const id = 'id' in message && message.id !== '' ? message.id : undefined
    return [{ role: message.role, content, ...id !== undefined && { id } }]
  })
}
