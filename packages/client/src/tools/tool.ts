import type { MemoryGatewayClient } from '../client.js'
import type { CallOptions } from '../options.js'
import type { Banks } from './banks.js'
import { Fields } from './fields.js'
import { toolErrorOf } from './tool-error.js'
import type {
  InputSchema, MemoryTool, MemoryToolData, MemoryToolName, MemoryToolsOptions, PropertySchema,
} from './types.js'

/** The values that the tools of a set share. */
export interface ToolSet {
  client: MemoryGatewayClient
  banks: Banks
  maxTokens: number
  maxResults: number
  /** Whether a tool of the set accepts ids: otherwise they are not worth their tokens. */
  showsIds: boolean
  options: Pick<MemoryToolsOptions, 'retain' | 'filter' | 'call'>
}

interface Definition<Name extends MemoryToolName> {
  name: Name
  description: string
  properties: Record<string, PropertySchema>
  required: string[]
  isWrite?: boolean
  run: (fields: Fields, call: CallOptions) => Promise<{ data: MemoryToolData[Name], text: string }>
}

export function createTool<Name extends MemoryToolName> (set: ToolSet, definition: Definition<Name>): MemoryTool<Name> {
  const { name, description, properties, required, isWrite = false, run } = definition
  const inputSchema: InputSchema = { type: 'object', properties, required, additionalProperties: false }
  return {
    name,
    description,
    inputSchema,
    run: async (input, signal) => {
      try {
        const { text, data } = await run(
          new Fields(input, inputSchema), { ...set.options.call, ...(signal !== undefined && { signal }) },
        )
        return { ok: true, text, data }
      } catch (error) {
        signal?.throwIfAborted()
        return toolErrorOf(error, isWrite)
      }
    },
  }
}
