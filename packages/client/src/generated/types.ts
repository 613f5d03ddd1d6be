/* Made from the gateway's OpenAPI document by `npm run generate`. It is not edited by hand. */
import type { components, operations } from './openapi.js'

type Schemas = components['schemas']
type In<Name extends keyof operations, Place extends 'path' | 'query' | 'header'> =
  NonNullable<operations[Name]['parameters'][Place]>

/** The permission to check. The bank need not exist. */
export type AccessCheck = Schemas['AccessCheck']

/** The decision on one permission. */
export type AccessDecision = Schemas['AccessDecision']

/** The permissions of a principal on each bank, and the rule that gives each of them. */
export type AccessPage = Schemas['AccessPage']

/** The rules of the configuration file. Grants in the configuration of a bank add to them. */
export type AccessRules = Schemas['AccessRules']

/** Banks with their tenants. */
export type AdminBanksAnswer = Schemas['AdminBanksAnswer']

/** The providers and settings of this process and their state. Contains no secrets and no addresses. */
export type AdminStatus = Schemas['AdminStatus']

/** What became of the messages. */
export type AppendMessagesAnswer = Schemas['AppendMessagesAnswer']

export type AppendMessagesBody = Schemas['AppendMessagesBody']

/** A bank. */
export type Bank = Schemas['Bank']

export type BankAccess = Schemas['BankAccess']

export type BankConfig = Schemas['BankConfig']

/** The bank's own configuration, the settings in force, and the origin of each value. */
export type BankConfigAnswer = Schemas['BankConfigAnswer']

/** A page of the latest changes of the configuration of a bank. */
export type BankConfigHistory = Schemas['BankConfigHistory']

/** The number of memories that the bank has now, by the day on which they were retained. */
export type BankGrowth = Schemas['BankGrowth']

/** Statistics of a bank. */
export type BankStatistics = Schemas['BankStatistics']

/** A page of banks. */
export type BanksPage = Schemas['BanksPage']

/** A conversation in a list. */
export type ConversationSummary = Schemas['ConversationSummary']

/** A page of conversations. */
export type ConversationsPage = Schemas['ConversationsPage']

/** What was deleted. */
export type DeleteBankAnswer = Schemas['DeleteBankAnswer']

/** The messages that were deleted. */
export type DeletedMessages = Schemas['DeletedMessages']

/** The stages that one memory passed in a recall. */
export type ExplainRecallAnswer = Schemas['ExplainRecallAnswer']

/** A search and the memory to explain. */
export type ExplainRecallRequest = Schemas['ExplainRecallRequest']

/** The deleted memories or, with dry_run, those that would be deleted. */
export type ForgetAnswer = Schemas['ForgetAnswer']

/** The memories to delete: those of memory_ids, or all (scope), or those that pass every given filter. */
export type ForgetRequest = Schemas['ForgetRequest']

/** A page of memories. */
export type MemoriesPage = Schemas['MemoriesPage']

/** A memory of a bank. */
export type Memory = Schemas['Memory']

/**
 * A memory and its neighbours in the document, which is ordered by `occurred_at`, else `retained_at`. A memory without
 * `document_id` is returned alone.
 */
export type MemoryNeighbours = Schemas['MemoryNeighbours']

/** A page of a conversation. */
export type MessagesPage = Schemas['MessagesPage']

export type PatchMemoryBody = Schemas['PatchMemoryBody']

export type PopMessagesBody = Schemas['PopMessagesBody']

/** The messages that were deleted. */
export type PoppedMessages = Schemas['PoppedMessages']

/** That a memory may take the place of an older one. */
export type Proposal = Schemas['Proposal']

/** A page of proposals, newest first. */
export type ProposalsPage = Schemas['ProposalsPage']

/** The hits, best first. */
export type RecallAnswer = Schemas['RecallAnswer']

/** A search. Requires exactly one of `bank_id` and `banks`. */
export type RecallRequest = Schemas['RecallRequest']

/** The version that was emptied. */
export type RedactAnswer = Schemas['RedactAnswer']

/** The answer with its sources. */
export type ReflectAnswer = Schemas['ReflectAnswer']

/** A question. Requires exactly one of `bank_id` and `banks`. */
export type ReflectRequest = Schemas['ReflectRequest']

/** The changes that were applied. */
export type ReloadAnswer = Schemas['ReloadAnswer']

/** Requests, their durations and memory use, in steps. */
export type RequestHistory = Schemas['RequestHistory']

export type RestoreMemoryBody = Schemas['RestoreMemoryBody']

/** The result of storing a memory. */
export type RetainAnswer = Schemas['RetainAnswer']

/** The result for each memory. */
export type RetainBatchAnswer = Schemas['RetainBatchAnswer']

/** Memories to store, all or none. */
export type RetainBatchRequest = Schemas['RetainBatchRequest']

/** A memory to store. */
export type RetainRequest = Schemas['RetainRequest']

export type RetireMemoryBody = Schemas['RetireMemoryBody']

/** What a rollback changed, or would change. */
export type RollbackAnswer = Schemas['RollbackAnswer']

export type RollbackBankBody = Schemas['RollbackBankBody']

/** The webhook sources. */
export type SourcesAnswer = Schemas['SourcesAnswer']

/** The versions of a memory. */
export type VersionsAnswer = Schemas['VersionsAnswer']

/** The caller, as the service sees it. */
export type WhoamiAnswer = Schemas['WhoamiAnswer']

/** The request of `listBanks`. */
export interface ListBanksRequest {
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'listBanks', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'listBanks', 'query'>['cursor'] | undefined
}

/** The request of `getBank`. */
export interface GetBankRequest {
  /** Id of a bank. */
  bank_id: In<'getBank', 'path'>['bank_id']
}

/** The request of `deleteBank`. */
export interface DeleteBankRequest {
  /** Id of a bank. */
  bank_id: In<'deleteBank', 'path'>['bank_id']
}

/** The request of `getBankStatistics`. */
export interface GetBankStatisticsRequest {
  /** Id of a bank. */
  bank_id: In<'getBankStatistics', 'path'>['bank_id']
}

/** The request of `listMemories`. */
export interface ListMemoriesRequest {
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'listMemories', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'listMemories', 'query'>['cursor'] | undefined
  /** An untagged memory never matches a tag filter. */
  tags?: In<'listMemories', 'query'>['tags'] | undefined
  /** Whether a memory must have any or all of the tags. Default any. A search or list without tags ignores it. */
  tags_match?: In<'listMemories', 'query'>['tags_match'] | undefined
  /**
   * A JSON object of strings, numbers, booleans and nulls. Only memories whose metadata contains all of its members.
   */
  metadata?: In<'listMemories', 'query'>['metadata'] | undefined
  /** Only memories that one of these said, compared without regard to case. */
  speakers?: In<'listMemories', 'query'>['speakers'] | undefined
  /** Only memories that occurred at or after this instant. RFC 3339 with an offset. */
  occurred_after?: In<'listMemories', 'query'>['occurred_after'] | undefined
  /** Only memories that occurred before this instant. RFC 3339 with an offset. */
  occurred_before?: In<'listMemories', 'query'>['occurred_before'] | undefined
  /** Only memories retained at or after this instant. RFC 3339 with an offset. */
  retained_after?: In<'listMemories', 'query'>['retained_after'] | undefined
  /** Only memories retained before this instant. RFC 3339 with an offset. */
  retained_before?: In<'listMemories', 'query'>['retained_before'] | undefined
  document_id?: In<'listMemories', 'query'>['document_id'] | undefined
  /**
   * The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC
   * 3339 with an offset.
   */
  as_of?: In<'listMemories', 'query'>['as_of'] | undefined
  /** `current`; `history`: superseded and retired memories; or `all`. Default current. */
  state?: In<'listMemories', 'query'>['state'] | undefined
  /** Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset. */
  valid_at?: In<'listMemories', 'query'>['valid_at'] | undefined
  /** Only memories with at least this level of trust. Default: all. */
  min_trust?: In<'listMemories', 'query'>['min_trust'] | undefined
  /** Only memories of exactly this level. */
  trust?: In<'listMemories', 'query'>['trust'] | undefined
  /**
   * Which memories come first. A cursor used with the opposite order continues from its position in the opposite
   * direction. Default newest.
   */
  order?: In<'listMemories', 'query'>['order'] | undefined
  /** Number of memories to skip, from the start or the cursor. Default 0. */
  offset?: In<'listMemories', 'query'>['offset'] | undefined
  /** Adds `total` to the answer. Default false. */
  total?: In<'listMemories', 'query'>['total'] | undefined
  /** Id of a bank. */
  bank_id: In<'listMemories', 'path'>['bank_id']
}

/** The request of `getMemory`. */
export interface GetMemoryRequest {
  /** Id of a bank. */
  bank_id: In<'getMemory', 'path'>['bank_id']
  memory_id: In<'getMemory', 'path'>['memory_id']
}

/** The request of `patchMemory`. */
export interface PatchMemoryRequest {
  /** Id of a bank. */
  bank_id: In<'patchMemory', 'path'>['bank_id']
  memory_id: In<'patchMemory', 'path'>['memory_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'patchMemory', 'header'>['if-match'] | undefined
  patch: Schemas['PatchMemoryBody']
}

/** The request of `getBankGrowth`. */
export interface GetBankGrowthRequest {
  /** Number of days. Clamped to 1–366. Default 30. */
  days?: In<'getBankGrowth', 'query'>['days'] | undefined
  /** The last day. Default today. */
  until?: In<'getBankGrowth', 'query'>['until'] | undefined
  /** Id of a bank. */
  bank_id: In<'getBankGrowth', 'path'>['bank_id']
}

/** The request of `getMemoryNeighbours`. */
export interface GetMemoryNeighboursRequest {
  /** Number of memories before it. Clamped to 0–50. Default 5. */
  before?: In<'getMemoryNeighbours', 'query'>['before'] | undefined
  /** Number of memories after it. Clamped to 0–50. Default 5. */
  after?: In<'getMemoryNeighbours', 'query'>['after'] | undefined
  /** Id of a bank. */
  bank_id: In<'getMemoryNeighbours', 'path'>['bank_id']
  memory_id: In<'getMemoryNeighbours', 'path'>['memory_id']
}

/** The request of `retireMemory`. */
export interface RetireMemoryRequest extends RetireMemoryBody {
  /** Id of a bank. */
  bank_id: In<'retireMemory', 'path'>['bank_id']
  memory_id: In<'retireMemory', 'path'>['memory_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'retireMemory', 'header'>['if-match'] | undefined
}

/** The request of `restoreMemory`. */
export interface RestoreMemoryRequest extends RestoreMemoryBody {
  /** Id of a bank. */
  bank_id: In<'restoreMemory', 'path'>['bank_id']
  memory_id: In<'restoreMemory', 'path'>['memory_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'restoreMemory', 'header'>['if-match'] | undefined
}

/** The request of `listVersions`. */
export interface ListVersionsRequest {
  /** Id of a bank. */
  bank_id: In<'listVersions', 'path'>['bank_id']
  memory_id: In<'listVersions', 'path'>['memory_id']
}

/** The request of `redactVersion`. */
export interface RedactVersionRequest {
  /** Id of a bank. */
  bank_id: In<'redactVersion', 'path'>['bank_id']
  memory_id: In<'redactVersion', 'path'>['memory_id']
  /** Number of the version. */
  version: In<'redactVersion', 'path'>['version']
}

/** The request of `rollbackBank`. */
export interface RollbackBankRequest extends RollbackBankBody {
  /** Id of a bank. */
  bank_id: In<'rollbackBank', 'path'>['bank_id']
}

/** The request of `listConversations`. */
export interface ListConversationsRequest {
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'listConversations', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'listConversations', 'query'>['cursor'] | undefined
  /** Id of a bank. */
  bank_id: In<'listConversations', 'path'>['bank_id']
}

/** The request of `listMessages`. */
export interface ListMessagesRequest {
  /** Number of messages in one page. Clamped to 1–200. Default 50. */
  limit?: In<'listMessages', 'query'>['limit'] | undefined
  /** `next_cursor` of a page: the messages before it. Default: the newest messages. */
  before?: In<'listMessages', 'query'>['before'] | undefined
  /** `memory_id` of a message: the messages after it; or `next_cursor` of such a page. Not with `before`. */
  after?: In<'listMessages', 'query'>['after'] | undefined
  /** Id of a bank. */
  bank_id: In<'listMessages', 'path'>['bank_id']
  conversation_id: In<'listMessages', 'path'>['conversation_id']
}

/** The request of `appendMessages`. */
export interface AppendMessagesRequest extends AppendMessagesBody {
  /** Id of a bank. */
  bank_id: In<'appendMessages', 'path'>['bank_id']
  conversation_id: In<'appendMessages', 'path'>['conversation_id']
}

/** The request of `popMessages`. */
export interface PopMessagesRequest extends PopMessagesBody {
  /** Id of a bank. */
  bank_id: In<'popMessages', 'path'>['bank_id']
  conversation_id: In<'popMessages', 'path'>['conversation_id']
}

/** The request of `deleteConversation`. */
export interface DeleteConversationRequest {
  /** Id of a bank. */
  bank_id: In<'deleteConversation', 'path'>['bank_id']
  conversation_id: In<'deleteConversation', 'path'>['conversation_id']
}

/** The request of `listProposals`. */
export interface ListProposalsRequest {
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'listProposals', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'listProposals', 'query'>['cursor'] | undefined
  /** Default open. */
  state?: In<'listProposals', 'query'>['state'] | undefined
  /** Id of a bank. */
  bank_id: In<'listProposals', 'path'>['bank_id']
}

/** The request of `acceptProposal`. */
export interface AcceptProposalRequest {
  /** Id of a bank. */
  bank_id: In<'acceptProposal', 'path'>['bank_id']
  proposal_id: In<'acceptProposal', 'path'>['proposal_id']
}

/** The request of `dismissProposal`. */
export interface DismissProposalRequest {
  /** Id of a bank. */
  bank_id: In<'dismissProposal', 'path'>['bank_id']
  proposal_id: In<'dismissProposal', 'path'>['proposal_id']
}

/** The request of `undoProposal`. */
export interface UndoProposalRequest {
  /** Id of a bank. */
  bank_id: In<'undoProposal', 'path'>['bank_id']
  proposal_id: In<'undoProposal', 'path'>['proposal_id']
}

/** The request of `getBankConfig`. */
export interface GetBankConfigRequest {
  /** Id of a bank. */
  bank_id: In<'getBankConfig', 'path'>['bank_id']
}

/** The request of `putBankConfig`. */
export interface PutBankConfigRequest {
  /** Id of a bank. */
  bank_id: In<'putBankConfig', 'path'>['bank_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'putBankConfig', 'header'>['if-match'] | undefined
  /** Only `*`: nothing is changed if a configuration is set. Not together with If-Match. */
  if_none_match?: In<'putBankConfig', 'header'>['if-none-match'] | undefined
  config: Schemas['BankConfig']
}

/** The request of `patchBankConfig`. */
export interface PatchBankConfigRequest {
  /** Id of a bank. */
  bank_id: In<'patchBankConfig', 'path'>['bank_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'patchBankConfig', 'header'>['if-match'] | undefined
  /** Only `*`: nothing is changed if a configuration is set. Not together with If-Match. */
  if_none_match?: In<'patchBankConfig', 'header'>['if-none-match'] | undefined
  patch: Schemas['BankConfigPatch']
}

/** The request of `resetBankConfig`. */
export interface ResetBankConfigRequest {
  /** Id of a bank. */
  bank_id: In<'resetBankConfig', 'path'>['bank_id']
  /**
   * Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of
   * a memory is its version in quotes.
   */
  if_match?: In<'resetBankConfig', 'header'>['if-match'] | undefined
  /** Only `*`: nothing is changed if a configuration is set. Not together with If-Match. */
  if_none_match?: In<'resetBankConfig', 'header'>['if-none-match'] | undefined
}

/** The request of `getBankConfigHistory`. */
export interface GetBankConfigHistoryRequest {
  /** Number of entries in one page. Clamped to 1–10. Default 5. */
  limit?: In<'getBankConfigHistory', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'getBankConfigHistory', 'query'>['cursor'] | undefined
  /** Id of a bank. */
  bank_id: In<'getBankConfigHistory', 'path'>['bank_id']
}

/** The request of `whoami`. */
export interface WhoamiRequest {
  /** Id of a bank. */
  bank_id?: In<'whoami', 'query'>['bank_id'] | undefined
}

/** The request of `getAccess`. */
export interface GetAccessRequest {
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'getAccess', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'getAccess', 'query'>['cursor'] | undefined
}

/** The request of `listBanks`. */
export interface AdminListBanksRequest {
  /** Absent: the banks of all tenants. */
  tenant_id?: In<'adminListBanks', 'query'>['tenant_id'] | undefined
}

/** The request of `getBank`. */
export interface AdminGetBankRequest {
  /** Absent: the banks of all tenants. */
  tenant_id?: In<'adminGetBank', 'query'>['tenant_id'] | undefined
  /** Id of a bank. */
  bank_id: In<'adminGetBank', 'path'>['bank_id']
}

/** The request of `getBankConfig`. */
export interface AdminGetBankConfigRequest {
  /** Tenant of the bank. Absent: the bank of callers without a tenant. */
  tenant_id?: In<'adminGetBankConfig', 'query'>['tenant_id'] | undefined
  /** Id of a bank. */
  bank_id: In<'adminGetBankConfig', 'path'>['bank_id']
}

/** The request of `resetBankConfig`. */
export interface AdminResetBankConfigRequest {
  /** Tenant of the bank. Absent: the bank of callers without a tenant. */
  tenant_id?: In<'adminResetBankConfig', 'query'>['tenant_id'] | undefined
  /** Id of a bank. */
  bank_id: In<'adminResetBankConfig', 'path'>['bank_id']
}

/** The request of `getHistory`. */
export interface AdminGetHistoryRequest {
  /** Only steps that began at or after this instant. RFC 3339 with an offset. */
  since?: In<'adminGetHistory', 'query'>['since'] | undefined
}

/** The request of `getAccess`. */
export interface AdminGetAccessRequest {
  /** Absent: an anonymous caller; required outside dev mode, where there is none. */
  principal?: In<'adminGetAccess', 'query'>['principal'] | undefined
  /** Absent: callers without a tenant. */
  tenant_id?: In<'adminGetAccess', 'query'>['tenant_id'] | undefined
  /** The principal on whose behalf the caller acts. */
  on_behalf_of?: In<'adminGetAccess', 'query'>['on_behalf_of'] | undefined
  /** Number of entries in one page. Clamped to 1–200. Default 50. */
  limit?: In<'adminGetAccess', 'query'>['limit'] | undefined
  /** `next_cursor` of the previous page. */
  cursor?: In<'adminGetAccess', 'query'>['cursor'] | undefined
}
