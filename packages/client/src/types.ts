import type { components, operations } from './generated/openapi.js'

/*
 * The names under which the client exports the types of the OpenAPI document. Types of queries are looked up by
 * operation; all others have a name in the document, where a choice between members is a union.
 */

type Schemas = components['schemas']
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** Names a bank. */
export interface BankRequest { bank_id: string }

export type RetainRequest = Schemas['RetainRequest']
export type RetainAnswer = Schemas['RetainAnswer']
export type RetainBatchRequest = Schemas['RetainBatchRequest']
export type RetainItem = Schemas['RetainItem']
export type RetainBatchAnswer = Schemas['RetainBatchAnswer']

/** Exactly one of `bank_id` and `banks`. */
export type RecallRequest = Schemas['RecallRequest']
export type RecallAnswer = Schemas['RecallAnswer']
export type Hit = Schemas['Hit']
export type ExplainRecallRequest = Schemas['ExplainRecallRequest']
export type ExplainRecallAnswer = Schemas['ExplainRecallAnswer']

/** Exactly one of `bank_id` and `banks`. */
export type ReflectRequest = Schemas['ReflectRequest']
export type ReflectAnswer = Schemas['ReflectAnswer']
/** A source of a reflect: a hit that its answer cites or not. */
export type ReflectSource = Schemas['ReflectSource']
/** The events of a reflect stream. A failure in the middle is thrown and is not an event. */
export type ReflectEvent = Exclude<Schemas['ReflectEvent'], Schemas['ErrorEvent']>

/** `memory_ids`, or `scope`, or one or more filters, all of which must hold. */
export type ForgetRequest = Schemas['ForgetRequest']
export type ForgetAnswer = Schemas['ForgetAnswer']

export type ListBanksRequest = QueryOf<'listBanks'>
export type BanksPage = Schemas['BanksPage']
export type Bank = Schemas['Bank']
export type BankStatistics = Schemas['BankStatistics']
export type DeleteBankAnswer = Schemas['DeleteBankAnswer']
export type ListMemoriesRequest = BankRequest & QueryOf<'listMemories'>
export type MemoriesPage = Schemas['MemoriesPage']
export type Memory = Schemas['Memory']
export type Metadata = Schemas['Metadata']
export type TrustLevel = Schemas['TrustLevel']
export interface GetMemoryRequest extends BankRequest { memory_id: string }
export type GetMemoryNeighboursRequest = GetMemoryRequest & QueryOf<'getMemoryNeighbours'>
export type MemoryNeighbours = Schemas['MemoryNeighbours']

export type BankConfigAnswer = Schemas['BankConfigAnswer']
/** The settings of a bank itself. */
export type BankConfig = Schemas['BankConfig']
export type BankConfigHistoryRequest = BankRequest & QueryOf<'getBankConfigHistory'>
export type BankConfigHistory = Schemas['BankConfigHistory']
export interface ResetBankConfigRequest extends BankRequest {
  /** The `etag` of the configuration to change: if another one is in force, nothing is changed. */
  if_match?: string | undefined
  /** Nothing is changed if the bank has a configuration. */
  if_none_match?: '*' | undefined
}
export interface PutBankConfigRequest extends ResetBankConfigRequest { config: BankConfig }
export interface PatchBankConfigRequest extends ResetBankConfigRequest {
  /** The members to change (RFC 7396); null removes one. */
  patch: Schemas['BankConfigPatch']
}

/** A parsed line of an export: first the header, then one memory per line. */
export type ExportLine = Schemas['ExportLine']
/** A line of an import. */
export type ImportLine = Schemas['ImportLine']
/** A line with or without its line feed, any chunk of bytes of the file, or a line as an object. */
export type ImportPiece = string | Uint8Array | ImportLine
/** A whole export (a file that a browser's user has chosen is a Blob), or its pieces. */
export type ImportSource = string | Uint8Array | Blob | Iterable<ImportPiece> | AsyncIterable<ImportPiece>
export type ImportBankRequest = BankRequest & QueryOf<'importBank'> & { lines: ImportSource }
export type ImportBankAnswer = Schemas['ImportBankAnswer']

export type WhoamiRequest = QueryOf<'whoami'>
export type WhoamiAnswer = Schemas['WhoamiAnswer']
export type HealthAnswer = Schemas['HealthAnswer']

export type BankGrowthRequest = BankRequest & QueryOf<'getBankGrowth'>
export type BankGrowth = Schemas['BankGrowth']
export type AccessRequest = QueryOf<'getAccess'>
export type AccessPage = Schemas['AccessPage']
/** The permissions of a principal on a bank, and the rules that grant them. */
export type BankAccess = Schemas['BankAccess']

export type SourcesAnswer = Schemas['SourcesAnswer']
export type AdminListBanksRequest = QueryOf<'adminListBanks'>
export type AdminBanksAnswer = Schemas['AdminBanksAnswer']
/** Names a bank. Without `tenant_id`: that of callers without a tenant, or of every tenant if the answer is a list. */
export interface AdminBankRequest extends BankRequest { tenant_id?: string | undefined }
export type AdminHistoryRequest = QueryOf<'adminGetHistory'>
export type AdminHistory = Schemas['RequestHistory']
export type AdminStatus = Schemas['AdminStatus']
export type AdminAccessRequest = QueryOf<'adminGetAccess'>
export type AccessRules = Schemas['AccessRules']
export type AccessCheckRequest = Schemas['AccessCheck']
export type AccessDecision = Schemas['AccessDecision']
export type ReloadAnswer = Schemas['ReloadAnswer']

/** The body of an error. */
export type ErrorBody = Schemas['Error']
/** The error codes of the gateway. */
export type ErrorCode = Schemas['ErrorCode']
