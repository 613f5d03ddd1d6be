import type { components, operations } from './generated/openapi.js'

/*
 * The names under which the client gives the types of the OpenAPI document. Everything that depends on the form of the
 * document is in this file: types are found by operation, so that it does not matter which schemas have names there.
 */

type Json<Content> = Content extends { 'application/json': infer Body } ? Body : never
type AnswerOf<Name extends keyof operations> =
  operations[Name] extends { responses: { 200: { content: infer Content } } } ? Json<Content> : never
type BodyOf<Name extends keyof operations> =
  operations[Name] extends { requestBody: { content: infer Content } } ? Json<Content> : never
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** `T` with exactly one of the members `K`, a choice that the document tells in words. */
type ExactlyOne<T, K extends keyof T> = Omit<T, K> & {
  [One in K]: { [P in One]-?: NonNullable<T[P]> } & { [Other in Exclude<K, One>]?: never }
}[K]
type OneBankOrSeveral<T extends { bank_id?: string, banks?: string[] }> = ExactlyOne<T, 'bank_id' | 'banks'>

/** Names a bank. */
export interface BankRequest { bank_id: string }

export type RetainRequest = BodyOf<'retain'>
export type RetainAnswer = AnswerOf<'retain'>
export type RetainBatchRequest = BodyOf<'retainBatch'>
export type RetainItem = RetainBatchRequest['items'][number]
export type RetainBatchAnswer = AnswerOf<'retainBatch'>

/** Exactly one of `bank_id` and `banks`. */
export type RecallRequest = OneBankOrSeveral<BodyOf<'recall'>>
export type RecallAnswer = AnswerOf<'recall'>
export type Hit = RecallAnswer['hits'][number]
export type ExplainRecallRequest = BodyOf<'explainRecall'>
export type ExplainRecallAnswer = AnswerOf<'explainRecall'>

/** Exactly one of `bank_id` and `banks`. */
export type ReflectRequest = OneBankOrSeveral<BodyOf<'reflect'>>
export type ReflectAnswer = AnswerOf<'reflect'>
/** What a stream of reflect tells. A failure in the middle is thrown and is no event. */
export type ReflectEvent =
  | { event: 'evidence', data: { sources: Hit[] } }
  | { event: 'delta', data: { text: string } }
  | { event: 'usage', data: ReflectAnswer['usage'] }
  | { event: 'done', data: Omit<ReflectAnswer, 'sources' | 'usage'> }

/** Exactly one of `memory_ids`, `tags` and `scope`. */
export type ForgetRequest = ExactlyOne<BodyOf<'forget'>, 'memory_ids' | 'tags' | 'scope'>
export type ForgetAnswer = AnswerOf<'forget'>

export type ListBanksRequest = QueryOf<'listBanks'>
export type BanksPage = AnswerOf<'listBanks'>
export type Bank = BanksPage['banks'][number]
export type BankStatistics = AnswerOf<'getBankStatistics'>
export type DeleteBankAnswer = AnswerOf<'deleteBank'>
export type ListMemoriesRequest = BankRequest & QueryOf<'listMemories'>
export type MemoriesPage = AnswerOf<'listMemories'>
export type Memory = MemoriesPage['memories'][number]
export interface GetMemoryRequest extends BankRequest { memory_id: string }
export type GetMemoryNeighboursRequest = GetMemoryRequest & QueryOf<'getMemoryNeighbours'>
export type MemoryNeighbours = AnswerOf<'getMemoryNeighbours'>

export type BankConfigAnswer = AnswerOf<'getBankConfig'>
/** What a bank sets for itself. */
export type BankConfig = BodyOf<'putBankConfig'>
export type BankConfigHistory = AnswerOf<'getBankConfigHistory'>
export interface ResetBankConfigRequest extends BankRequest {
  /** The `etag` of the configuration that is to be changed: with another one in force, nothing is changed. */
  if_match?: string
}
export interface PutBankConfigRequest extends ResetBankConfigRequest { config: BankConfig }
export interface PatchBankConfigRequest extends ResetBankConfigRequest {
  /** The members to change (RFC 7396); null takes one away. */
  patch: BodyOf<'patchBankConfig'>
}

/** A line with or without its line feed, bytes of the file wherever they are cut, or a line as an object. */
export type ImportPiece = string | Uint8Array | object
/** A whole export (a file that a browser's user has chosen is a Blob), or its pieces. */
export type ImportSource = string | Uint8Array | Blob | Iterable<ImportPiece> | AsyncIterable<ImportPiece>
export type ImportBankRequest = BankRequest & QueryOf<'importBank'> & { lines: ImportSource }
export type ImportBankAnswer = AnswerOf<'importBank'>

export type WhoamiRequest = QueryOf<'whoami'>
export type WhoamiAnswer = AnswerOf<'whoami'>
export type HealthAnswer = AnswerOf<'health'>

export type BankGrowthRequest = BankRequest & QueryOf<'getBankGrowth'>
export type BankGrowth = AnswerOf<'getBankGrowth'>
export type AccessRequest = QueryOf<'getAccess'>
export type AccessPage = AnswerOf<'getAccess'>
/** What a principal may do on a bank, and by which rule. */
export type BankAccess = AccessPage['banks'][number]

export type SourcesAnswer = AnswerOf<'listSources'>
export type AdminListBanksRequest = QueryOf<'adminListBanks'>
export type AdminBanksAnswer = AnswerOf<'adminListBanks'>
/** Names a bank; without a tenant that of callers who have none, or of every tenant where several may answer. */
export interface AdminBankRequest extends BankRequest { tenant_id?: string }
export type AdminHistoryRequest = QueryOf<'adminGetHistory'>
export type AdminHistory = AnswerOf<'adminGetHistory'>
export type AdminAccessRequest = QueryOf<'adminGetAccess'>
export type AccessRules = AnswerOf<'adminGetAccessRules'>
export type AccessCheckRequest = BodyOf<'adminCheckAccess'>
export type AccessDecision = AnswerOf<'adminCheckAccess'>
export type ReloadAnswer = AnswerOf<'reloadConfiguration'>

/** The body of an error. */
export type ErrorBody = components['schemas']['Error']
/** The codes of the gateway. */
export type ErrorCode = ErrorBody['code']
