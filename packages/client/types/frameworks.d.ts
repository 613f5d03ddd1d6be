/*
 * What the adapters use of packages that do not run on the Node.js on which this one is built. The adapters are also
 * compiled against the packages' own types: scripts/test-frameworks.mjs.
 */

declare module '@mastra/core/tools' {
  export interface Tool<In = unknown, Out = unknown> {
    id: string
    execute?: (input: In, context: { abortSignal?: AbortSignal }) => Promise<Out>
  }
  export function createTool (options: {
    id: string
    description: string
    inputSchema: object
    requireApproval: boolean
    execute: (input: unknown, context: { abortSignal?: AbortSignal }) => Promise<unknown>
    toModelOutput: (output: unknown) => unknown
  }): Tool
}

declare module '@openai/agents' {
  interface Text { type: 'input_text' | 'output_text', text: string }
  export type AgentInputItem =
    | { type?: 'message', id?: string, role: 'user' | 'system', content: string | Array<Text | { type: 'input_file' }> }
    | {
      type?: 'message'
      id?: string
      role: 'assistant'
      status: 'in_progress' | 'completed' | 'incomplete'
      content: Array<Text | { type: 'refusal' }>
    }
    | { type: 'function_call', id?: string }
  export interface Session {
    getSessionId: () => Promise<string>
    getItems: (limit?: number) => Promise<AgentInputItem[]>
    addItems: (items: AgentInputItem[]) => Promise<void>
    popItem: () => Promise<AgentInputItem | undefined>
    clearSession: () => Promise<void>
  }
  export interface FunctionTool<Context, Parameters, Result> {
    name: string
    isEnabled: (context: Context) => Promise<boolean>
    parameters: Parameters
    invoke: (context: Context, input: string) => Promise<string | Result>
  }
  export function tool<Parameters, Result> (options: {
    name: string
    description: string
    parameters: Parameters
    strict: true
    needsApproval: boolean
    execute: (input: unknown, context?: unknown, details?: { signal?: AbortSignal }) => Promise<Result>
  }): FunctionTool<unknown, Parameters, Result>
}
