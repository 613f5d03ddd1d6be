import { deniedDetail, PERMISSIONS } from '../access/access-control.js'
import { bankOf, isPrincipal, type BankKey, type RequestContext } from '../access/context.js'
import { dayOf, formatDay, parseDay } from '../base/days.js'
import { giveWay, isDue, mapGivingWay } from '../base/event-loop.js'
import { isUuid, PRINCIPAL_IN_WORDS } from '../base/ids.js'
import { ServiceError, invalidField } from '../base/service-error.js'
import { mostFrequent } from '../stores/most-frequent.js'
import type { BankSummary } from '../stores/vector-store.js'
import type { OpenBank } from './bank-directory.js'
import { decodeCursor, encodeCursor, isBankPlace, isMemoryPlace } from './cursor.js'
import type { Dependencies, Call } from './dependencies.js'
import { needsCountMemories, readListFilters, clamp, nullableInstant, requireLife, toRecord } from './records.js'
import {
  MAX_TOTAL, PAGE_SIZE, GROWTH_DAYS, NEIGHBOURS, MAX_GRANTS, type AdminBanksAnswer, type BankAnswer, type BanksAnswer,
  type MemoriesAnswer, type MemoriesQuery, type MemoryRecord, type PageQuery, type StatisticsAnswer, type GrowthAnswer,
  type GrowthQuery, type NeighboursAnswer, type NeighboursQuery, type AccessAnswer, type AccessCheckRequest,
  type AccessDecision, type AccessQuery, type AccessRulesAnswer, type AdminAccessQuery,
} from './schemas.js'

/** Number of summaries that one read requests from the store; those that the caller may not read are skipped. */
const READ_AHEAD = 500
/** Number of banks that one call examines at most. When the caller may read few of them, its page is shorter. */
const MAX_EXAMINED = 4 * READ_AHEAD
/** Number of banks whose configurations are read together; each may have 32 KiB. */
const RESOLVE_BATCH = 25
/** Number of summaries that one read requests for an operator, who receives all of them. */
const ADMIN_PAGE = 5000

interface OneBank {
  bank_id: string
}

interface OneMemory extends OneBank {
  memory_id: string
}

/**
 * The banks on which the caller has `read`, ordered by name. A page with a cursor may have fewer banks than its
 * limit, or none.
 */
export async function listBanks (
  deps: Dependencies, query: PageQuery, { context, signal }: Call,
): Promise<BanksAnswer> {
  const limit = pageSize(query.limit)
  const banks: BankSummary[] = []
  let after = afterCursor(deps, query.cursor, context)
  let isLast = false
  for (let examined = 0; !isLast && banks.length <= limit && examined < MAX_EXAMINED; examined += READ_AHEAD) {
    const page = await summariesOf(deps, {
      tenantId: context.tenantId,
      limit: READ_AHEAD,
      after,
    })
    for (let at = 0; at < page.length && banks.length <= limit; at += RESOLVE_BATCH) {
      signal?.throwIfAborted()
      const readable = await readableOf(deps, page.slice(at, at + RESOLVE_BATCH), context)
      // One more than a page shows whether there is a next one.
      banks.push(...readable.slice(0, limit + 1 - banks.length))
    }
    isLast = page.length < READ_AHEAD
    after = page.at(-1) ?? after
  }
  const shown = banks.slice(0, limit)
  const last = banks.length > limit ? shown.at(-1) : isLast ? undefined : after
  return { banks: shown.map(toBankAnswer), next_cursor: last === undefined ? null : cursorAfter(deps, last) }
}

/** The bank after which a page of a list of banks begins. @throws ServiceError invalid_request */
function afterCursor (
  deps: Dependencies, cursor: string | undefined, context: RequestContext,
): BankKey | undefined {
  if (cursor === undefined) return undefined
  const [bankId] = deps.cursors.open('banks', context.tenantId, cursor, isBankPlace)
  return bankOf(context, bankId)
}

function cursorAfter (deps: Dependencies, { tenantId, bankId }: BankKey): string {
  return deps.cursors.seal('banks', tenantId, [bankId])
}

export async function getBank (
  deps: Dependencies, { bank_id: bankId }: OneBank, { context }: Call,
): Promise<BankAnswer> {
  const { key: bank } = await deps.directory.openOne(context, 'read', bankId)
  const [summary] = await summariesOf(deps, { ...bank, limit: 1 })
  return toBankAnswer(summary ?? { ...bank, memoryCount: 0, lastRetainedAt: null })
}

export async function getBankStatistics (
  deps: Dependencies, { bank_id: bankId }: OneBank, { context }: Call,
): Promise<StatisticsAnswer> {
  const { directory, store, clock, backfill } = deps
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
export async function listMemories (
  deps: Dependencies, query: OneBank & MemoriesQuery, { context }: Call,
): Promise<MemoriesAnswer> {
  const { directory, store, clock } = deps
  const { bank_id: bankId, order = 'newest', offset = 0 } = query
  const { key: bank } = await directory.openOne(context, 'read', bankId)
  const limit = pageSize(query.limit)
  const place = query.cursor === undefined ? undefined : decodeCursor(query.cursor, isMemoryPlace)
  const now = clock()
  const filters = readListFilters(query)
  requireLife(store, filters)
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
export async function getMemory (
  deps: Dependencies, { bank_id: bankId, memory_id: memoryId }: OneMemory, { context }: Call,
): Promise<MemoryRecord> {
  const { directory, store, clock } = deps
  const { key: bank } = await directory.openOne(context, 'read', bankId)
  const memory = isUuid(memoryId) ? await store.get(bank, memoryId.toLowerCase(), clock()) : undefined
  if (memory === undefined) throw new ServiceError('not_found', 'No such memory')
  return toRecord(bankId, memory)
}

/** For operators: the banks of one tenant or of all. */
export async function listAllBanks (
  deps: Dependencies, only: { tenantId?: string, bankId?: string },
): Promise<AdminBanksAnswer> {
  const banks: AdminBanksAnswer['banks'] = []
  for (let after: BankSummary | undefined; ;) {
    const page = await summariesOf(deps, { ...only, limit: ADMIN_PAGE, after })
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
async function readableOf (
  deps: Dependencies, page: readonly BankSummary[], context: RequestContext,
): Promise<BankSummary[]> {
  const { access, directory } = deps
  if (isDue()) await giveWay()
  const denied = page.filter(({ bankId }) => !access.decide(context, 'read', bankId).allowed)
  if (denied.length === 0) return [...page]
  const open = await directory.resolve(denied)
  const refused = new Set(denied.filter(({ bankId }, index) => (
    !access.decide(context, 'read', bankId, open[index]!.grants).allowed
  )))
  return page.filter((summary) => !refused.has(summary))
}

async function summariesOf (
  deps: Dependencies, request: Omit<Parameters<Dependencies['store']['listBanks']>[0], 'now'>,
): Promise<BankSummary[]> {
  return await deps.store.listBanks({ now: deps.clock(), ...request })
}

export function pageSize (limit: number | undefined): number {
  return clamp(limit ?? PAGE_SIZE.default, PAGE_SIZE.min, PAGE_SIZE.max)
}

function toBankAnswer ({ bankId, memoryCount, lastRetainedAt }: BankSummary): BankAnswer {
  return { bank_id: bankId, memory_count: memoryCount, last_retained_at: nullableInstant(lastRetainedAt) }
}

/** RFC 3339 cannot represent days before the year 0. */
const FIRST_DAY = parseDay('0000-01-01')!

/**
 * A memory with those before and after it in its document.
 * @throws ServiceError access_denied; not_found; not_supported with a store without `neighbours`
 */
export async function getMemoryNeighbours (
  deps: Dependencies, query: OneMemory & NeighboursQuery, { context }: Call,
): Promise<NeighboursAnswer> {
  const { directory, store, clock } = deps
  const { bank_id: bankId, memory_id: memoryId } = query
  const { key } = await directory.openOne(context, 'read', bankId)
  if (store.neighbours === undefined) {
    throw new ServiceError('not_supported', 'The configured vector store does not support neighbours')
  }
  const [maxBefore, maxAfter] = [query.before, query.after].map((requested) => (
    clamp(requested ?? NEIGHBOURS.default, NEIGHBOURS.min, NEIGHBOURS.max)
  )) as [number, number]
  // One more on each side shows whether there are further ones.
  const request = { now: clock(), before: maxBefore + 1, after: maxAfter + 1 }
  const found = isUuid(memoryId) ? await store.neighbours(key, memoryId.toLowerCase(), request) : undefined
  if (found === undefined) throw new ServiceError('not_found', 'No such memory')
  const { memory, before, after } = found
  return {
    memory: toRecord(bankId, memory),
    before: before.slice(Math.max(0, before.length - maxBefore)).map((neighbour) => toRecord(bankId, neighbour)),
    after: after.slice(0, maxAfter).map((neighbour) => toRecord(bankId, neighbour)),
    more_before: before.length > maxBefore,
    more_after: after.length > maxAfter,
  }
}

/**
 * The memories of a bank by the day on which they were retained.
 * @throws ServiceError access_denied; invalid_request; not_supported with a store that cannot count by day
 */
export async function getBankGrowth (
  deps: Dependencies, query: OneBank & GrowthQuery, { context }: Call,
): Promise<GrowthAnswer> {
  const { directory, store, clock } = deps
  const { bank_id: bankId } = query
  const { key } = await directory.openOne(context, 'read', bankId)
  const now = clock()
  const until = query.until === undefined ? dayOf(now) : parseDay(query.until)
  if (until === undefined) throw invalidField('until', 'must be a day as YYYY-MM-DD')
  if (store.countByDay === undefined) {
    throw new ServiceError('not_supported', 'The configured vector store does not count memories by day')
  }
  const length = clamp(query.days ?? GROWTH_DAYS.default, GROWTH_DAYS.min, GROWTH_DAYS.max)
  const from = Math.max(FIRST_DAY, until + 1 - length)
  const { before, byDay } = await store.countByDay(key, { now, from, until })
  const days = Array.from({ length: until + 1 - from }, (_, index) => (
    { day: formatDay(from + index), memory_count: byDay.get(from + index) ?? 0 }
  ))
  return { bank_id: bankId, from: formatDay(from), until: formatDay(until), count_before: before, days }
}

type GrantedPermissions = AccessAnswer['banks'][number]['permissions']

/** The caller's permissions on one bank, each with the grant or policy that is its source. */
export async function permissionsOnBank (
  deps: Dependencies, bankId: string, context: RequestContext,
): Promise<GrantedPermissions> {
  const [bank] = await deps.directory.resolve([bankOf(context, bankId)])
  return permissionsOf(deps, bank!, context)
}

/** The caller's permissions on the banks that it may read, in the pages of `listBanks`; others are not listed. */
export async function getAccess (deps: Dependencies, query: AccessQuery, call: Call): Promise<AccessAnswer> {
  const { banks, next_cursor: next } = await listBanks(deps, query, call)
  return await accessAnswer(deps, banks.map(({ bank_id: bankId }) => bankId), next, call.context)
}

/** For operators: a caller's permissions on every bank of its tenant. */
export async function accessOf (deps: Dependencies, query: AdminAccessQuery): Promise<AccessAnswer> {
  const { store, clock } = deps
  const context = contextOf(query)
  const limit = pageSize(query.limit)
  const after = afterCursor(deps, query.cursor, context)
  const found = await store.listBanks({
    now: clock(),
    tenantId: context.tenantId,
    limit: limit + 1,
    after,
  })
  const shown = found.slice(0, limit)
  const next = found.length > limit ? cursorAfter(deps, shown.at(-1)!) : null
  return await accessAnswer(deps, shown.map(({ bankId }) => bankId), next, context)
}

/** For operators: whether a caller has a permission, and why. */
export async function decideAccess (deps: Dependencies, request: AccessCheckRequest): Promise<AccessDecision> {
  const { access, directory } = deps
  const context = contextOf(request)
  const { bank_id: bankId, permission } = request
  const [bank] = await directory.resolve([bankOf(context, bankId)])
  const { allowed, grantedBy } = access.decide(context, permission, bankId, bank!.grants)
  if (!allowed) return { allowed, granted_by: null, reason: deniedDetail(context, permission, bankId) }
  return { allowed, granted_by: grantedBy!, reason: `Allowed by ${grantedBy}` }
}

/** For operators: the rules of the configuration file. */
export function accessRules (deps: Dependencies): AccessRulesAnswer {
  const { enabled, defaultPolicy, ownerPatterns, grants } = deps.live.current.access
  return {
    enabled,
    default_policy: defaultPolicy,
    owner_patterns: [...ownerPatterns],
    grants: grants.slice(0, MAX_GRANTS).map(({ bankId, principal, permissions, origin }) => (
      { bank_id: bankId, principal, permissions: [...permissions], origin }
    )),
    truncated: grants.length > MAX_GRANTS,
  }
}

async function accessAnswer (
  deps: Dependencies, bankIds: readonly string[], nextCursor: string | null, context: RequestContext,
): Promise<AccessAnswer> {
  const open: OpenBank[] = []
  for (let at = 0; at < bankIds.length; at += RESOLVE_BATCH) {
    const batch = bankIds.slice(at, at + RESOLVE_BATCH)
    open.push(...await deps.directory.resolve(batch.map((bankId) => bankOf(context, bankId))))
  }
  return {
    principal: context.principal ?? null,
    tenant_id: context.tenantId,
    on_behalf_of: context.onBehalfOf ?? null,
    banks: await mapGivingWay(open, (bank) => ({
      bank_id: bank.key.bankId, permissions: permissionsOf(deps, bank, context),
    })),
    next_cursor: nextCursor,
  }
}

function permissionsOf (deps: Dependencies, { key, grants }: OpenBank, context: RequestContext): GrantedPermissions {
  return PERMISSIONS.flatMap((permission) => {
    const { allowed, grantedBy } = deps.access.decide(context, permission, key.bankId, grants)
    return allowed ? [{ permission, granted_by: grantedBy! }] : []
  })
}

/** @throws ServiceError invalid_request for an invalid principal */
function contextOf (
  identity: Pick<AccessCheckRequest, 'principal' | 'tenant_id' | 'on_behalf_of'>,
): RequestContext {
  const { principal, tenant_id: tenantId = null, on_behalf_of: onBehalfOf } = identity
  for (const [field, name] of [['principal', principal], ['on_behalf_of', onBehalfOf]] as const) {
    if (name !== undefined && !isPrincipal(name)) {
      throw invalidField(field, `must be ${PRINCIPAL_IN_WORDS}`)
    }
  }
  return { tenantId, principal, onBehalfOf }
}
