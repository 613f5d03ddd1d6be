import { tool, type FunctionTool } from '@openai/agents'
import type { MemoryGatewayClient } from './client.js'
import {
  memoryTools as plainTools, type ApprovalOptions, type DefaultToolName, type InputSchema, type MemoryTool,
  type MemoryToolName, type MemoryToolResult, type MemoryToolsOptions,
} from './tools/index.js'

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
