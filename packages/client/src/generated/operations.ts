/* Made from the gateway's OpenAPI document by `npm run generate`. It is not edited by hand. */
import type { CallOptions, WriteOptions } from '../options.js'
import { Listing, withCursor } from '../pages.js'
import { pathOf } from '../paths.js'
import type { Transport } from '../transport.js'
import type * as T from './types.js'

/** The operations of callers. */
export abstract class CallerOperations {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /**
   * Store one memory.
   * Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing memory, unless
   * the repeat has a more trusted writer and therefore replaces that memory. The answer contains `trust` when the
   * trust of the memory is below `trusted`.
   */
  async retain (request: T.RetainRequest, options?: WriteOptions): Promise<T.RetainAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/retain',
      json: request,
      safety: 'keyed',
      answer: ['stored', 'memory_id', 'chunk_count', 'deduplicated'],
    }, options)
  }

  /** Store up to 1000 memories, all or none. */
  async retainBatch (request: T.RetainBatchRequest, options?: WriteOptions): Promise<T.RetainBatchAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/retain/batch',
      json: request,
      safety: 'keyed',
      answer: ['results'],
    }, options)
  }

  /**
   * Search one bank or several.
   * Requires exactly one of bank_id and banks. Filters apply within every strategy. A bank that does not exist counts
   * as empty.
   */
  async recall (request: T.RecallRequest, options?: CallOptions): Promise<T.RecallAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/recall',
      json: request,
      safety: 'read',
      answer: ['hits', 'total_available', 'truncated', 'usage'],
    }, options)
  }

  /**
   * Explain why a recall returns or excludes a memory.
   * Runs the recall and reports, for one memory, its rank at each stage and what excluded it. Counts as a recall.
   */
  async explainRecall (request: T.ExplainRecallRequest, options?: CallOptions): Promise<T.ExplainRecallAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/recall/explain',
      json: request,
      safety: 'read',
      answer: ['memory_id', 'found', 'verdict', 'rank'],
    }, options)
  }

  /**
   * Delete memories by id or by filters, or the whole bank.
   * Requires memory_ids, or one or more filters, or `scope: "all"`. A memory is deleted when it passes all filters
   * that are given; one without `occurred_at` passes no bound on it. `scope: "all"` requires the permission `admin`.
   */
  async forget (request: T.ForgetRequest, options?: WriteOptions): Promise<T.ForgetAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/forget',
      json: request,
      safety: 'keyed',
      answer: ['deleted_count', 'memory_ids'],
    }, options)
  }

  /** List the banks that the caller may read. */
  listBanks (request: T.ListBanksRequest = {}, options?: CallOptions): Listing<T.Bank, T.BanksPage> {
    const path = '/v1/banks'
    return new Listing((cursor) => this.#transport.json<T.BanksPage>({
      method: 'GET',
      path,
      query: withCursor(request, cursor),
      safety: 'read',
      answer: ['banks', 'next_cursor'],
    }, options), (page) => page.banks)
  }

  /** Get a bank. */
  async getBank ({ bank_id }: T.GetBankRequest, options?: CallOptions): Promise<T.Bank> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}`,
      safety: 'read',
      answer: ['bank_id', 'memory_count', 'last_retained_at'],
    }, options)
  }

  /**
   * Delete a bank.
   * Deletes the memories of the bank, its configuration and the configuration history, in one transaction. A forget
   * with `scope: all` keeps the configuration. The deletion counts as a forget. For a bank that does not exist, the
   * counts are zero.
   */
  async deleteBank ({ bank_id }: T.DeleteBankRequest, options?: CallOptions): Promise<T.DeleteBankAnswer> {
    return await this.#transport.json({
      method: 'DELETE',
      path: pathOf`/v1/banks/${bank_id}`,
      safety: 'once',
      answer: ['bank_id', 'deleted_count', 'config_deleted'],
    }, options)
  }

  /** Get the statistics of a bank. */
  async getBankStatistics ({ bank_id }: T.GetBankStatisticsRequest, options?: CallOptions): Promise<T.BankStatistics> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/stats`,
      safety: 'read',
      answer: ['bank_id', 'memory_count', 'last_retained_at', 'chunk_count'],
    }, options)
  }

  /** List the memories of a bank. */
  listMemories (
    { bank_id, ...query }: T.ListMemoriesRequest, options?: CallOptions,
  ): Listing<T.Memory, T.MemoriesPage> {
    const path = pathOf`/v1/banks/${bank_id}/memories`
    return new Listing((cursor) => this.#transport.json<T.MemoriesPage>({
      method: 'GET',
      path,
      query: withCursor(query, cursor),
      safety: 'read',
      answer: ['memories', 'next_cursor'],
    }, options), (page) => page.memories)
  }

  /** Get a memory. */
  async getMemory ({ bank_id, memory_id }: T.GetMemoryRequest, options?: CallOptions): Promise<T.Memory> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}`,
      safety: 'read',
      answer: ['memory_id', 'bank_id', 'text', 'tags'],
    }, options)
  }

  /**
   * Change a memory.
   * A merge patch (RFC 7396): members that are given replace those of the memory, and null removes one. The memory
   * keeps its id and gets its next version; the version before it can still be read. The content is checked and
   * indexed as in retain. A patch that changes nothing makes no version.
   */
  async patchMemory (
    { bank_id, memory_id, if_match, patch }: T.PatchMemoryRequest, options?: CallOptions,
  ): Promise<T.Memory> {
    return await this.#transport.json({
      method: 'PATCH',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}`,
      json: patch,
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': if_match },
      safety: 'once',
      answer: ['memory_id', 'bank_id', 'text', 'tags'],
    }, options)
  }

  /** Get the growth of a bank by day. */
  async getBankGrowth ({ bank_id, ...query }: T.GetBankGrowthRequest, options?: CallOptions): Promise<T.BankGrowth> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/growth`,
      query,
      safety: 'read',
      answer: ['bank_id', 'from', 'until', 'count_before'],
    }, options)
  }

  /** Get a memory and its neighbours in the document. */
  async getMemoryNeighbours (
    { bank_id, memory_id, ...query }: T.GetMemoryNeighboursRequest, options?: CallOptions,
  ): Promise<T.MemoryNeighbours> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}/neighbours`,
      query,
      safety: 'read',
      answer: ['memory', 'before', 'after', 'more_before'],
    }, options)
  }

  /**
   * Take a memory back.
   * The memory is kept, with its text, but no ordinary recall finds it; readers find it with `state: "history"`. It
   * can be restored.
   */
  async retireMemory (
    { bank_id, memory_id, if_match, ...body }: T.RetireMemoryRequest, options?: CallOptions,
  ): Promise<T.Memory> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}/retire`,
      json: body,
      headers: { 'if-match': if_match },
      safety: 'once',
      answer: ['memory_id', 'bank_id', 'text', 'tags'],
    }, options)
  }

  /** Make a superseded or retired memory current again. */
  async restoreMemory (
    { bank_id, memory_id, if_match, ...body }: T.RestoreMemoryRequest, options?: CallOptions,
  ): Promise<T.Memory> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}/restore`,
      json: body,
      headers: { 'if-match': if_match },
      safety: 'once',
      answer: ['memory_id', 'bank_id', 'text', 'tags'],
    }, options)
  }

  /**
   * List the versions of a memory.
   * Every version with who made it, when and why, the last one first.
   */
  async listVersions ({ bank_id, memory_id }: T.ListVersionsRequest, options?: CallOptions): Promise<T.VersionsAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}/versions`,
      safety: 'read',
      answer: ['versions'],
    }, options)
  }

  /**
   * Empty an earlier version of a memory.
   * Permanently removes what a version said, and the facts that were derived from the memory; that there was a
   * version, and who made it when, stays. The last version is not redacted but changed, or the memory forgotten.
   */
  async redactVersion (
    { bank_id, memory_id, version }: T.RedactVersionRequest, options?: CallOptions,
  ): Promise<T.RedactAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/memories/${memory_id}/versions/${version}/redact`,
      safety: 'once',
      answer: ['memory_id', 'version', 'redacted'],
    }, options)
  }

  /**
   * Set a bank back to an instant.
   * The current memories are again those of that instant, with the contents of then; what was stored later is retired.
   * Nothing is deleted, so that a rollback can itself be rolled back. What was forgotten stays forgotten.
   */
  async rollbackBank ({ bank_id, ...body }: T.RollbackBankRequest, options?: CallOptions): Promise<T.RollbackAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/rollback`,
      json: body,
      safety: 'once',
      answer: ['restored', 'retired', 'unrecoverable'],
    }, options)
  }

  /** List the conversations of a bank. */
  listConversations (
    { bank_id, ...query }: T.ListConversationsRequest, options?: CallOptions,
  ): Listing<T.ConversationSummary, T.ConversationsPage> {
    const path = pathOf`/v1/banks/${bank_id}/conversations`
    return new Listing((cursor) => this.#transport.json<T.ConversationsPage>({
      method: 'GET',
      path,
      query: withCursor(query, cursor),
      safety: 'read',
      answer: ['conversations', 'next_cursor'],
    }, options), (page) => page.conversations)
  }

  /**
   * List the messages of a conversation.
   * The newest messages, or those before or after a place; oldest first within a page. A conversation that does not
   * exist is empty.
   */
  async listMessages (
    { bank_id, conversation_id, ...query }: T.ListMessagesRequest, options?: CallOptions,
  ): Promise<T.MessagesPage> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/conversations/${conversation_id}/messages`,
      query,
      safety: 'read',
      answer: ['messages', 'next_cursor'],
    }, options)
  }

  /**
   * Append messages to a conversation, each once.
   * Stores each message that the conversation does not have as a memory whose `document_id` is the id of the
   * conversation: all of them or none. A transcript may be sent whole each time, or only what is new. With `id`, the
   * same id and content is a repeat. Without, the messages are aligned with the end of the conversation, or with its
   * beginning, and the longest overlap is repeats. So a client that sends only what is new, and may say the same
   * again, gives ids. Instructions (`system`, `developer`) are stored once in a conversation.
   */
  async appendMessages (
    { bank_id, conversation_id, ...body }: T.AppendMessagesRequest, options?: WriteOptions,
  ): Promise<T.AppendMessagesAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/conversations/${conversation_id}/messages`,
      json: body,
      safety: 'keyed',
      answer: ['stored', 'repeated', 'memory_ids'],
    }, options)
  }

  /**
   * Delete the last messages of a conversation.
   * Counts as a forget. What is sent again afterwards is stored again.
   */
  async popMessages (
    { bank_id, conversation_id, ...body }: T.PopMessagesRequest, options?: WriteOptions,
  ): Promise<T.PoppedMessages> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/conversations/${conversation_id}/pop`,
      json: body,
      safety: 'keyed',
      answer: ['deleted_count', 'memory_ids'],
    }, options)
  }

  /**
   * Delete a conversation.
   * Deletes its messages. Other memories of a document of the same id stay. Counts as a forget.
   */
  async deleteConversation (
    { bank_id, conversation_id }: T.DeleteConversationRequest, options?: CallOptions,
  ): Promise<T.DeletedMessages> {
    return await this.#transport.json({
      method: 'DELETE',
      path: pathOf`/v1/banks/${bank_id}/conversations/${conversation_id}`,
      safety: 'once',
      answer: ['deleted_count', 'memory_ids'],
    }, options)
  }

  /**
   * List which memories may take the place of others.
   * What retain found where the bank asks for it (`signal_quality.proposals`): a memory that has the same subject as
   * an older one and another value, number, negation or place, or nearly the same words. Nothing changes until a
   * proposal is accepted.
   */
  listProposals (
    { bank_id, ...query }: T.ListProposalsRequest, options?: CallOptions,
  ): Listing<T.Proposal, T.ProposalsPage> {
    const path = pathOf`/v1/banks/${bank_id}/proposals`
    return new Listing((cursor) => this.#transport.json<T.ProposalsPage>({
      method: 'GET',
      path,
      query: withCursor(query, cursor),
      safety: 'read',
      answer: ['proposals', 'next_cursor'],
    }, options), (page) => page.proposals)
  }

  /** Let a memory take the place of the older one. */
  async acceptProposal ({ bank_id, proposal_id }: T.AcceptProposalRequest, options?: CallOptions): Promise<T.Proposal> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/proposals/${proposal_id}/accept`,
      safety: 'once',
      answer: ['id', 'memory_id', 'may_supersede', 'because'],
    }, options)
  }

  /** Leave both memories as they are. */
  async dismissProposal (
    { bank_id, proposal_id }: T.DismissProposalRequest, options?: CallOptions,
  ): Promise<T.Proposal> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/proposals/${proposal_id}/dismiss`,
      safety: 'once',
      answer: ['id', 'memory_id', 'may_supersede', 'because'],
    }, options)
  }

  /**
   * Take the decision about a proposal back.
   * Restores the older memory when the proposal was accepted. The proposal is open again.
   */
  async undoProposal ({ bank_id, proposal_id }: T.UndoProposalRequest, options?: CallOptions): Promise<T.Proposal> {
    return await this.#transport.json({
      method: 'POST',
      path: pathOf`/v1/banks/${bank_id}/proposals/${proposal_id}/undo`,
      safety: 'once',
      answer: ['id', 'memory_id', 'may_supersede', 'because'],
    }, options)
  }

  /**
   * Get the configuration of a bank.
   * Returns the bank's own configuration, the settings in force, and the origin of each value.
   */
  async getBankConfig ({ bank_id }: T.GetBankConfigRequest, options?: CallOptions): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/config`,
      safety: 'read',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /**
   * Set the configuration of a bank.
   * Replaces the configuration. A bank can set tighter limits than the server's file, never looser ones. The
   * configuration takes effect at once on this replica, and within two seconds on every other. `retrieval` and
   * `reflect` apply to requests on this bank, and to requests on several banks when all of them have the same values.
   */
  async putBankConfig (
    { bank_id, if_match, if_none_match, config }: T.PutBankConfigRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'PUT',
      path: pathOf`/v1/banks/${bank_id}/config`,
      json: config,
      headers: { 'if-match': if_match, 'if-none-match': if_none_match },
      safety: 'once',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /**
   * Change parts of the configuration of a bank.
   * A merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.
   */
  async patchBankConfig (
    { bank_id, if_match, if_none_match, patch }: T.PatchBankConfigRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'PATCH',
      path: pathOf`/v1/banks/${bank_id}/config`,
      json: patch,
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': if_match, 'if-none-match': if_none_match },
      safety: 'once',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /** Reset the configuration of a bank. */
  async resetBankConfig (
    { bank_id, if_match, if_none_match }: T.ResetBankConfigRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'DELETE',
      path: pathOf`/v1/banks/${bank_id}/config`,
      headers: { 'if-match': if_match, 'if-none-match': if_none_match },
      safety: 'once',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /** List the latest changes of the configuration of a bank. */
  async getBankConfigHistory (
    { bank_id, ...query }: T.GetBankConfigHistoryRequest, options?: CallOptions,
  ): Promise<T.BankConfigHistory> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/banks/${bank_id}/config/history`,
      query,
      safety: 'read',
      answer: ['history', 'next_cursor'],
    }, options)
  }

  /**
   * Get the identity of the caller, as the service sees it.
   * With `?bank_id=`, also returns the permissions of the caller on that bank and the grant or policy that gives each
   * of them.
   */
  async whoami (request: T.WhoamiRequest = {}, options?: CallOptions): Promise<T.WhoamiAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/whoami',
      query: request,
      safety: 'read',
      answer: ['principal', 'actor', 'tenant_id', 'on_behalf_of'],
    }, options)
  }

  /**
   * List the permissions of the caller on each bank.
   * Returns the banks that the caller may read, each with the permissions of the caller and the grant or policy that
   * gives each of them.
   */
  getAccess (request: T.GetAccessRequest = {}, options?: CallOptions): Listing<T.BankAccess, T.AccessPage> {
    const path = '/v1/access'
    return new Listing((cursor) => this.#transport.json<T.AccessPage>({
      method: 'GET',
      path,
      query: withCursor(request, cursor),
      safety: 'read',
      answer: ['principal', 'tenant_id', 'on_behalf_of', 'banks'],
    }, options), (page) => page.banks)
  }

  /**
   * Answer a question from memories.
   * The answer cites its sources as [1], [2], in the order of `sources`. Without evidence, the service abstains and
   * calls no model.
   *
   * With `Accept: text/event-stream` the answer is streamed: `evidence` (`{sources}`, in the order of the ranking),
   * any number of `delta` (`{text}`), `usage`, then `done` (the members of the JSON answer except usage; its `answer`
   * is the whole text), or `error` (the body of an error answer). A comment is sent after every 15 seconds of silence.
   * An error before the `evidence` event gets an ordinary error status.
   */
  async reflect (request: T.ReflectRequest, options?: CallOptions): Promise<T.ReflectAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/reflect',
      json: request,
      safety: 'read',
      answer: ['answer', 'abstained', 'sources', 'usage'],
    }, options)
  }
}

/** The operations of operators. */
export abstract class AdminOperations {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /** List the webhook sources and their state. */
  async listSources (options?: CallOptions): Promise<T.SourcesAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/admin/sources',
      safety: 'read',
      answer: ['sources'],
    }, options)
  }

  /** List the banks of all tenants. */
  async listBanks (request: T.AdminListBanksRequest = {}, options?: CallOptions): Promise<T.AdminBanksAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/admin/banks',
      query: request,
      safety: 'read',
      answer: ['banks'],
    }, options)
  }

  /** List the banks with an id, one entry for each tenant. */
  async getBank ({ bank_id, ...query }: T.AdminGetBankRequest, options?: CallOptions): Promise<T.AdminBanksAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/admin/banks/${bank_id}`,
      query,
      safety: 'read',
      answer: ['banks'],
    }, options)
  }

  /** Get the configuration of a bank, as its admins see it. */
  async getBankConfig (
    { bank_id, ...query }: T.AdminGetBankConfigRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'GET',
      path: pathOf`/v1/admin/banks/${bank_id}/config`,
      query,
      safety: 'read',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /**
   * Reset the configuration that the admins of a bank have set.
   * Also removes the grants in that configuration.
   */
  async resetBankConfig (
    { bank_id, ...query }: T.AdminResetBankConfigRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method: 'DELETE',
      path: pathOf`/v1/admin/banks/${bank_id}/config`,
      query,
      safety: 'once',
      answer: ['config', 'effective', 'origin', 'ceilings'],
    }, options)
  }

  /**
   * Apply a changed configuration file.
   * Applies all changes or none, as SIGHUP does: a file with a problem, or with a change that needs a restart, changes
   * nothing. The body is an empty JSON object.
   */
  async reloadConfiguration (options?: CallOptions): Promise<T.ReloadAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/admin/reload',
      json: {},
      safety: 'once',
      answer: ['changed'],
    }, options)
  }

  /**
   * Get requests, durations and memory use over the last hour.
   * Covers only this process, since its start.
   */
  async getHistory (request: T.AdminGetHistoryRequest = {}, options?: CallOptions): Promise<T.RequestHistory> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/admin/history',
      query: request,
      safety: 'read',
      answer: ['interval_seconds', 'samples'],
    }, options)
  }

  /**
   * Get the providers of the server and their state.
   * Covers only this process. Checks the store as `GET /health` does, and calls no model.
   */
  async getStatus (options?: CallOptions): Promise<T.AdminStatus> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/admin/status',
      safety: 'read',
      answer: ['version', 'started_at', 'auth', 'access_control'],
    }, options)
  }

  /**
   * List the permissions of a principal on each bank.
   * Returns every bank of the tenant, each with the permissions of the principal and the grant or policy that gives
   * each of them.
   */
  getAccess (request: T.AdminGetAccessRequest = {}, options?: CallOptions): Listing<T.BankAccess, T.AccessPage> {
    const path = '/v1/admin/access'
    return new Listing((cursor) => this.#transport.json<T.AccessPage>({
      method: 'GET',
      path,
      query: withCursor(request, cursor),
      safety: 'read',
      answer: ['principal', 'tenant_id', 'on_behalf_of', 'banks'],
    }, options), (page) => page.banks)
  }

  /** Get the rules of access control in the configuration file. */
  async getAccessRules (options?: CallOptions): Promise<T.AccessRules> {
    return await this.#transport.json({
      method: 'GET',
      path: '/v1/admin/access/rules',
      safety: 'read',
      answer: ['enabled', 'default_policy', 'owner_patterns', 'grants'],
    }, options)
  }

  /**
   * Check whether a principal has a permission, and why.
   * Makes the same decision as for a request of that principal. Changes nothing and does not count as a refusal.
   */
  async checkAccess (request: T.AccessCheck, options?: CallOptions): Promise<T.AccessDecision> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/admin/access/check',
      json: request,
      safety: 'read',
      answer: ['allowed', 'granted_by', 'reason'],
    }, options)
  }
}
