import { ServiceError } from '../errors/service-error.js'
import { bankOf, type BankKey, type RequestContext } from '../identity/context.js'
import { isUuid } from '../validation/ids.js'
import { mostFrequent } from '../stores/most-frequent.js'
import type { BankSummary } from '../stores/vector-store.js'
import { giveWay, isDue, mapGivingWay } from '../concurrency/event-loop.js'
import { decodeCursor, encodeCursor, isBankPlace, isMemoryPlace } from './cursor.js'
import type { Dependencies } from './dependencies.js'
import { needsCountMemories, readListFilters } from './list-filters.js'
import type { OperationOptions } from './operation-options.js'
import { clamp, nullableInstant, toRecord } from './records.js'
import {
  MAX_TOTAL, PAGE_SIZE, type AdminBanksAnswer, type BankAnswer, type BanksAnswer, type MemoriesAnswer,
  type MemoriesQuery, type MemoryRecord, type PageQuery, type StatisticsAnswer,
} from './schemas.js'

/** Number of summaries that one read requests from the store; those that the caller may not read are skipped. */
const READ_AHEAD = 500
/** Number of banks that one call examines at most. When the caller may read few of them, its page is shorter. */
const MAX_EXAMINED = 4 * READ_AHEAD
/** Number of banks whose configurations are read together; each may have 32 KiB. */
export const RESOLVE_BATCH = 25
/** Number of summaries that one read requests for an operator, who receives all of them. */
const ADMIN_PAGE = 5000

/** Lists and describes banks and their memories. */
export class Banks {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The banks on which the caller has `read`, ordered by name. A page with a cursor may have fewer banks than its
   * limit, or none.
   */
  async list (
    query: PageQuery, context: RequestContext, { signal }: Pick<OperationOptions, 'signal'> = {},
  ): Promise<BanksAnswer> {
    const limit = pageSize(query.limit)
    const banks: BankSummary[] = []
    let after = this.afterCursor(query.cursor, context)
    let isLast = false
    for (let examined = 0; !isLast && banks.length <= limit && examined < MAX_EXAMINED; examined += READ_AHEAD) {
      const page = await this.#summaries({
        tenantId: context.tenantId,
        limit: READ_AHEAD,
        after,
      })
      for (let at = 0; at < page.length && banks.length <= limit; at += RESOLVE_BATCH) {
        signal?.throwIfAborted()
        const readable = await this.#readable(page.slice(at, at + RESOLVE_BATCH), context)
        // One more than a page shows whether there is a next one.
        banks.push(...readable.slice(0, limit + 1 - banks.length))
      }
      isLast = page.length < READ_AHEAD
      after = page.at(-1) ?? after
    }
    const shown = banks.slice(0, limit)
    const last = banks.length > limit ? shown.at(-1) : isLast ? undefined : after
    return { banks: shown.map(toBankAnswer), next_cursor: last === undefined ? null : this.cursorAfter(last) }
  }

  /** The bank after which a page of a list of banks begins. @throws ServiceError invalid_request */
  afterCursor (cursor: string | undefined, context: RequestContext): BankKey | undefined {
    if (cursor === undefined) return undefined
    const [bankId] = this.#deps.cursors.open('banks', context.tenantId, cursor, isBankPlace)
    return bankOf(context, bankId)
  }

  cursorAfter ({ tenantId, bankId }: BankKey): string {
    return this.#deps.cursors.seal('banks', tenantId, [bankId])
  }

  async describe (bankId: string, context: RequestContext): Promise<BankAnswer> {
    const { key: bank } = await this.#deps.directory.openOne(context, 'read', bankId)
    const [summary] = await this.#summaries({ ...bank, limit: 1 })
    return toBankAnswer(summary ?? { ...bank, memoryCount: 0, lastRetainedAt: null })
  }

  async statistics (bankId: string, context: RequestContext): Promise<StatisticsAnswer> {
    const { directory, store, clock, backfill } = this.#deps
    const { key: bank } = await directory.openOne(context, 'read', bankId)
    const statistics = await store.statistics(bank, clock())
    const tags = await mostFrequent(statistics.tagCounts)
    const speakers = await mostFrequent(statistics.speakerCounts)
    return {
      ...toBankAnswer(statistics),
      chunk_count: statistics.passageCount,
      pending_embeddings: backfill && (statistics.unembeddedCount ?? 0),
      token_count: statistics.tokens,
      first_retained_at: nullableInstant(statistics.firstRetainedAt),
      first_occurred_at: nullableInstant(statistics.firstOccurredAt),
      last_occurred_at: nullableInstant(statistics.lastOccurredAt),
      tags: tags.map(({ value: tag, count }) => ({ tag, memory_count: count })),
      speakers: speakers.map(({ value: speaker, count }) => ({ speaker, memory_count: count })),
    }
  }

  /**
   * Newest first unless the query specifies otherwise.
   * @throws ServiceError not_supported when the store cannot answer the query
   */
  async memories (
    query: { bank_id: string } & MemoriesQuery, context: RequestContext,
  ): Promise<MemoriesAnswer> {
    const { directory, store, clock } = this.#deps
    const { bank_id: bankId, order = 'newest', offset = 0 } = query
    const { key: bank } = await directory.openOne(context, 'read', bankId)
    const limit = pageSize(query.limit)
    const place = query.cursor === undefined ? undefined : decodeCursor(query.cursor, isMemoryPlace)
    const now = clock()
    const filters = readListFilters(query)
    if (store.countMemories === undefined && needsCountMemories(query)) {
      throw new ServiceError(
        'not_supported',
        'The configured vector store lists memories newest first only, and does not support document_id, trust, ' +
          'retained_after, retained_before, offset and total',
      )
    }
    const total = query.total === true
      ? await store.countMemories!(bank, { now, filters, limit: MAX_TOTAL + 1 })
      : undefined
    const memories = await store.list(bank, {
      now,
      limit: limit + 1,
      filters,
      order: order === 'newest' ? undefined : order,
      offset: offset > 0 ? offset : undefined,
      after: place && { retainedAt: place[0], memoryId: place[1] },
    })
    const shown = memories.slice(0, limit)
    const last = shown.at(-1)
    return {
      memories: shown.map((memory) => toRecord(bankId, memory)),
      next_cursor: memories.length > limit && last !== undefined
        ? encodeCursor([last.retainedAt, last.memoryId])
        : null,
      total: total === undefined ? undefined : { count: Math.min(total, MAX_TOTAL), complete: total <= MAX_TOTAL },
    }
  }

  /** @throws ServiceError not_found */
  async memory (bankId: string, memoryId: string, context: RequestContext): Promise<MemoryRecord> {
    const { directory, store, clock } = this.#deps
    const { key: bank } = await directory.openOne(context, 'read', bankId)
    const memory = isUuid(memoryId) ? await store.get(bank, memoryId.toLowerCase(), clock()) : undefined
    if (memory === undefined) throw new ServiceError('not_found', 'No such memory')
    return toRecord(bankId, memory)
  }

  /** For operators: the banks of one tenant or of all. */
  async administer (only: { tenantId?: string, bankId?: string }): Promise<AdminBanksAnswer> {
    const banks: AdminBanksAnswer['banks'] = []
    for (let after: BankSummary | undefined; ;) {
      const page = await this.#summaries({ ...only, limit: ADMIN_PAGE, after })
      banks.push(...await mapGivingWay(page, (summary) => (
        { tenant_id: summary.tenantId, ...toBankAnswer(summary) }
      )))
      after = page.at(-1)
      if (page.length < ADMIN_PAGE) break
    }
    if (only.bankId !== undefined && banks.length === 0) throw new ServiceError('not_found', 'No such bank')
    return { banks }
  }

  /** The banks that the caller may read. A bank's own grants are looked up only when the file does not grant access. */
  async #readable (page: readonly BankSummary[], context: RequestContext): Promise<BankSummary[]> {
    const { access, directory } = this.#deps
    if (isDue()) await giveWay()
    const denied = page.filter(({ bankId }) => !access.decide(context, 'read', bankId).allowed)
    if (denied.length === 0) return [...page]
    const open = await directory.resolve(denied)
    const refused = new Set(denied.filter(({ bankId }, index) => (
      !access.decide(context, 'read', bankId, open[index]!.grants).allowed
    )))
    return page.filter((summary) => !refused.has(summary))
  }

  async #summaries (request: Omit<Parameters<Dependencies['store']['listBanks']>[0], 'now'>): Promise<BankSummary[]> {
    return await this.#deps.store.listBanks({ now: this.#deps.clock(), ...request })
  }
}

export function pageSize (limit: number | undefined): number {
  return clamp(limit ?? PAGE_SIZE.default, PAGE_SIZE.min, PAGE_SIZE.max)
}

function toBankAnswer ({ bankId, memoryCount, lastRetainedAt }: BankSummary): BankAnswer {
  return { bank_id: bankId, memory_count: memoryCount, last_retained_at: nullableInstant(lastRetainedAt) }
}
