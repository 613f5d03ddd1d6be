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
