import type { MemoryGatewayErrorCode } from '../errors.js'
import type { CallOptions } from '../options.js'
import type {
  ForgetAnswer, RecallAnswer, RecallRequest, ReflectAnswer, RetainAnswer, RetainItem,
} from '../types.js'

/** The input that a model passes to each tool. A tool on one bank has no `bank` and no `banks`. */
export interface MemoryToolInputs {
  retain: {
    content: string, occurred_at?: string | null, speaker?: string | null, tags?: string[] | null, bank?: string
  }
  recall: {
    query: string
    speakers?: string[] | null
    occurred_after?: string | null
    occurred_before?: string | null
    banks?: string[] | null
  }
  reflect: { query: string, banks?: string[] | null }
  /** Either ids or filters, of which all must hold. */
  forget: {
    memory_ids?: string[] | null
    document_ids?: string[] | null
    speakers?: string[] | null
    occurred_after?: string | null
    occurred_before?: string | null
    bank?: string
  }
}

/** The data that each tool returns to the program. */
export interface MemoryToolData {
  retain: RetainAnswer
  recall: RecallAnswer
  reflect: ReflectAnswer
  forget: ForgetAnswer
}

export type MemoryToolName = keyof MemoryToolInputs

/** Why the gateway did not execute the request of a tool. */
export interface MemoryToolError {
  code: MemoryGatewayErrorCode
  message: string
  status?: number
  /** Seconds after which the same call may succeed. */
  retry_after_seconds?: number
  /** The id of the request in the gateway's log. */
  request_id?: string
}

/** `text` is for the model, `data` and `error` are for the program. */
export type MemoryToolResult<Name extends MemoryToolName = MemoryToolName> =
  | { ok: true, text: string, data: MemoryToolData[Name] }
  | { ok: false, text: string, error: MemoryToolError }

/** The part of JSON Schema that every framework and every model's API accepts. */
export type PropertySchema =
  | { type: 'string', description: string, enum?: string[] }
  | { type: 'array', description: string, items: { type: 'string', enum?: string[] } }
export interface InputSchema {
  type: 'object'
  properties: Record<string, PropertySchema>
  required: string[]
  additionalProperties: false
}

/** A framework-independent tool. */
export interface MemoryTool<Name extends MemoryToolName = MemoryToolName> {
  readonly name: Name
  /** For the model. */
  readonly description: string
  readonly inputSchema: InputSchema
  /** Throws the reason of the signal, and programming errors; every other outcome is a result. */
  readonly run: (input: unknown, signal?: AbortSignal) => Promise<MemoryToolResult<Name>>
}

export type MemoryTools<Name extends MemoryToolName> = { [One in Name]: MemoryTool<One> }

/** The banks that the tools may use; the model can reach no other. */
export type MemoryToolBanks =
  /** All tools use this bank, so none of them has a bank in its input. */
  | { bank: string, banks?: never }
  /** The model chooses among these: names, or names with the purpose of each bank. */
  | { bank?: never, banks: readonly string[] | Readonly<Record<string, string>> }

export type MemoryToolsOptions<Name extends MemoryToolName = MemoryToolName> = MemoryToolBanks & {
  /** Default: `retain`, `recall`, `reflect`. `forget` deletes, so it must be listed explicitly. */
  tools?: readonly Name[]
  /** Tokens that the text of a result may have (o200k_base). Default 1500. */
  maxTokens?: number
  /** Maximum memories that recall returns. Default 10. */
  maxResults?: number
  /** Fields of every memory that a model retains; the tags are added to those that the model gives. */
  retain?: Pick<RetainItem, 'tags' | 'metadata' | 'source' | 'document_id' | 'speaker'>
  /**
   * Filters that every memory used by recall and reflect must pass. A forget by filters deletes only memories that pass
   * them, except for `min_trust`.
   */
  filter?: Pick<RecallRequest, 'tags' | 'tags_match' | 'metadata' | 'speakers' | 'min_trust'>
  /** Time limit and attempts of a call instead of the client's, because a model waits for the answer. */
  call?: Pick<CallOptions, 'timeoutMs' | 'retries'>
}

/** For frameworks in which a person can approve a call before it is made. */
export interface ApprovalOptions {
  /** Whether a person approves each call of `forget`. Default true. */
  forgetNeedsApproval?: boolean
}

/** The default tools. */
export type DefaultToolName = 'retain' | 'recall' | 'reflect'
