import type { MemoryGatewayErrorCode } from '../errors.js'
import type { CallOptions } from '../options.js'
import type {
  ForgetAnswer, RecallAnswer, RecallRequest, ReflectAnswer, RetainAnswer, RetainItem,
} from '../types.js'

/** What a model gives each tool. A tool on one bank has no `bank` and no `banks`. */
export interface MemoryToolInputs {
  retain: { content: string, occurred_at?: string | null, tags?: string[] | null, bank?: string }
  recall: { query: string, occurred_after?: string | null, occurred_before?: string | null, banks?: string[] | null }
  reflect: { query: string, banks?: string[] | null }
  forget: { memory_ids: string[], bank?: string }
}

/** What each tool gives the program. */
export interface MemoryToolData {
  retain: RetainAnswer
  recall: RecallAnswer
  reflect: ReflectAnswer
  forget: ForgetAnswer
}

export type MemoryToolName = keyof MemoryToolInputs

/** Why the gateway did not do what a tool asked for. */
export interface MemoryToolError {
  code: MemoryGatewayErrorCode
  message: string
  status?: number
  /** Seconds after which the same call has a chance of success. */
  retry_after_seconds?: number
  /** Under which the gateway's log has the request. */
  request_id?: string
}

/** `text` is for the model, `data` and `error` are for the program. */
export type MemoryToolResult<Name extends MemoryToolName = MemoryToolName> =
  | { ok: true, text: string, data: MemoryToolData[Name] }
  | { ok: false, text: string, error: MemoryToolError }

/** A part of JSON Schema that every framework and every model's API takes. */
export type PropertySchema =
  | { type: 'string', description: string, enum?: string[] }
  | { type: 'array', description: string, items: { type: 'string', enum?: string[] } }
export interface InputSchema {
  type: 'object'
  properties: Record<string, PropertySchema>
  required: string[]
  additionalProperties: false
}

/** A tool that belongs to no framework. */
export interface MemoryTool<Name extends MemoryToolName = MemoryToolName> {
  readonly name: Name
  /** For the model. */
  readonly description: string
  readonly inputSchema: InputSchema
  /** Throws the reason of the signal, and what is a mistake of the program; all else is a result. */
  readonly run: (input: unknown, signal?: AbortSignal) => Promise<MemoryToolResult<Name>>
}

export type MemoryTools<Name extends MemoryToolName> = { [One in Name]: MemoryTool<One> }

/** Which banks the tools may use; the model has no way to another. */
export type MemoryToolBanks =
  /** All tools work on this bank, and none asks the model for a bank. */
  | { bank: string, banks?: never }
  /** The model chooses among these: names, or names with what a bank is for. */
  | { bank?: never, banks: readonly string[] | Readonly<Record<string, string>> }

export type MemoryToolsOptions<Name extends MemoryToolName = MemoryToolName> = MemoryToolBanks & {
  /** Default: `retain`, `recall`, `reflect`. `forget` deletes, so it has to be asked for. */
  tools?: readonly Name[]
  /** Tokens that the text of a result may have (o200k_base). Default 1500. */
  maxTokens?: number
  /** Memories that recall gives at most. Default 10. */
  maxResults?: number
  /** What every memory gets that a model retains; its tags are joined with those that the model gives. */
  retain?: Pick<RetainItem, 'tags' | 'metadata' | 'source' | 'document_id'>
  /** What every memory must meet that recall and reflect use. */
  filter?: Pick<RecallRequest, 'tags' | 'tags_match' | 'metadata' | 'min_trust'>
  /** Time and tries of a call, in the place of the client's: a model waits for the answer. */
  call?: Pick<CallOptions, 'timeoutMs' | 'retries'>
}

/** For frameworks in which a person can approve a call before it is made. */
export interface ApprovalOptions {
  /** Whether a person approves each call of `forget`. Default true. */
  forgetNeedsApproval?: boolean
}

/** The tools there are when nothing is said. */
export type DefaultToolName = 'retain' | 'recall' | 'reflect'
