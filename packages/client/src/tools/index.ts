import type { MemoryGatewayClient } from '../client.js'
import { Banks } from './banks.js'
import { forgetTool } from './forget.js'
import { recallTool } from './recall.js'
import { reflectTool } from './reflect.js'
import { retainTool } from './retain.js'
import type { ToolSet } from './tool.js'
import type { DefaultToolName, MemoryTool, MemoryToolName, MemoryTools, MemoryToolsOptions } from './types.js'

export type * from './types.js'

const DEFAULT_TOOLS: readonly DefaultToolName[] = ['retain', 'recall', 'reflect']
const DEFAULT_MAX_TOKENS = 1500
const DEFAULT_MAX_RESULTS = 10

const TOOL_FACTORIES: { [Name in MemoryToolName]: (set: ToolSet) => MemoryTool<Name> } = {
  retain: retainTool, recall: recallTool, reflect: reflectTool, forget: forgetTool,
}

/** Framework-independent tools by name: for frameworks without an adapter here, or for direct use of a model's API. */
export function memoryTools<Name extends MemoryToolName = DefaultToolName> (
  client: MemoryGatewayClient, options: MemoryToolsOptions<Name>,
): MemoryTools<Name> {
  const { tools = DEFAULT_TOOLS, maxTokens = DEFAULT_MAX_TOKENS, maxResults = DEFAULT_MAX_RESULTS } = options
  const names: readonly MemoryToolName[] = tools
  const set: ToolSet = {
    client, maxTokens, maxResults, options, banks: new Banks(options), showsIds: names.includes('forget'),
  }
  return Object.fromEntries(names.map((name) => [name, TOOL_FACTORIES[name](set)])) as unknown as MemoryTools<Name>
}
