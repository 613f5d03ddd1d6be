import { ToolMessage } from '@langchain/core/messages'
import { tool, type DynamicStructuredTool } from '@langchain/core/tools'
import type { MemoryGatewayClient } from './client.js'
import {
  memoryTools as plainTools, type DefaultToolName, type InputSchema, type MemoryTool, type MemoryToolName,
  type MemoryToolsOptions,
} from './tools/index.js'

export { conversationMessages, MemoryGatewayChatMessageHistory } from './langchain-history.js'
export {
  MemoryGatewayRetriever, type MemoryDocumentMetadata, type MemoryRetrieverFields,
} from './langchain-retriever.js'
export type * from './tools/types.js'

/** The content of its message is the text for the model; the artifact is the `MemoryToolResult`. */
export type LangChainMemoryTool = DynamicStructuredTool<InputSchema>

/** Memory as tools for agents of LangChain.js and LangGraph (`@langchain/core` 1). */
export function memoryTools<Name extends MemoryToolName = DefaultToolName> (
  client: MemoryGatewayClient, options: MemoryToolsOptions<Name>,
): LangChainMemoryTool[] {
  const plain: MemoryTool[] = Object.values(plainTools(client, options))
  return plain.map(({ name, description, inputSchema, run }) => tool(async (input: unknown, config) => {
    const result = await run(input, config.signal)
    const callId: unknown = config.toolCall?.id
    if (result.ok || typeof callId !== 'string') return [result.text, result]
    // A returned value counts as a success; a failure for the model to see needs a message with an error status.
    return [
      new ToolMessage({ name, status: 'error', content: result.text, artifact: result, tool_call_id: callId }), result,
    ]
  }, {
    name, description, schema: inputSchema, responseFormat: 'content_and_artifact', verboseParsingErrors: true,
  }))
}
