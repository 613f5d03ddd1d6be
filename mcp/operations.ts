import type { Permission } from '../lib/access/access-control.js'
import type {
  BankAnswer, BanksAnswer, ForgetAnswer, ForgetRequest, MemoriesAnswer, MemoriesQuery, MemoryRecord, PageQuery,
  RecallAnswer, RecallRequest, ReflectAnswer, ReflectRequest, RetainAnswer, RetainRequest,
} from '../lib/memory/schemas.js'

/** The context of a call. */
export interface CallOptions {
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
}

export interface WriteOptions extends CallOptions {
  idempotencyKey?: string | undefined
}

/**
 * The operations on memories for one caller. One implementation calls the memory service of the process, another a
 * server. Refusals are ServiceErrors or MemoryGatewayErrors.
 */
export interface MemoryOperations {
  /**
   * Checks access to banks before the rest of a request is validated.
   * @returns undefined when the check is complete without waiting
   */
  checkAccess (permission: Permission, bankIds: readonly string[]): Promise<unknown> | undefined
  retain (request: RetainRequest, options: WriteOptions): Promise<RetainAnswer>
  recall (request: RecallRequest, options: CallOptions): Promise<RecallAnswer>
  reflect (request: ReflectRequest, options: CallOptions): Promise<ReflectAnswer>
  forget (request: ForgetRequest, options: WriteOptions): Promise<ForgetAnswer>
  listBanks (query: PageQuery, options: CallOptions): Promise<BanksAnswer>
  getBank (bankId: string, options: CallOptions): Promise<BankAnswer>
  listMemories (bankId: string, query: MemoriesQuery, options: CallOptions): Promise<MemoriesAnswer>
  getMemory (bankId: string, memoryId: string, options: CallOptions): Promise<MemoryRecord>
}
