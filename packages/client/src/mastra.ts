import { createTool, type Tool } from '@mastra/core/tools'
import type { MemoryGatewayClient } from './client.js'
import {
  memoryTools as plainTools, type ApprovalOptions, type DefaultToolName, type MemoryTool, type MemoryToolInputs,
  type MemoryToolName, type MemoryToolResult, type MemoryToolsOptions,
} from './tools/index.js'

export type * from './tools/types.js'

/** Tools of Mastra, by name. */
export type MastraMemoryTools<Name extends MemoryToolName = DefaultToolName> = {
  [One in Name]: Tool<MemoryToolInputs[One], MemoryToolResult<One>>
}

/** Memory as tools for agents and workflows of Mastra (`@mastra/core` 1). */
export function memoryTools<Name extends MemoryToolName = DefaultToolName> (
  client: MemoryGatewayClient, options: MemoryToolsOptions<Name> & ApprovalOptions,
): MastraMemoryTools<Name> {
  const { forgetNeedsApproval = true } = options
  const plain: MemoryTool[] = Object.values(plainTools(client, options))
  return Object.fromEntries(plain.map(({ name, description, inputSchema, run }) => [name, createTool({
    id: name,
    description,
    inputSchema,
    requireApproval: name === 'forget' && forgetNeedsApproval,
    execute: async (input: unknown, context): Promise<MemoryToolResult> => await run(input, context.abortSignal),
    toModelOutput: (output: unknown) => ({ type: 'text', value: textOf(output) }),
  })])) as unknown as MastraMemoryTools<Name>
}

/** The text of the tool's result, or of Mastra's own error when the input does not satisfy the schema. */
function textOf (output: unknown): string {
  if (typeof output !== 'object' || output === null) return String(output)
  if ('text' in output && typeof output.text === 'string') return output.text
  return 'message' in output && typeof output.message === 'string' ? output.message : JSON.stringify(output)
}
