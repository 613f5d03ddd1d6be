import { invalidField, ServiceError } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import { dayOf, formatDay, parseDay } from '../time/days.js'
import { isUuid } from '../validation/ids.js'
import type { Dependencies } from './dependencies.js'
import { clamp, toRecord } from './records.js'
import {
  GROWTH_DAYS, NEIGHBOURS, type GrowthAnswer, type GrowthQuery, type NeighboursAnswer, type NeighboursQuery,
} from './schemas.js'

/** RFC 3339 cannot represent days before the year 0. */
const FIRST_DAY = parseDay('0000-01-01')!

/** Data for displaying a bank: its growth, and a memory within its document. */
export class BankBrowser {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * A memory with those before and after it in its document.
   * @throws ServiceError access_denied; not_found; not_supported with a store without `neighbours`
   */
  async neighbours (
    query: { bank_id: string, memory_id: string } & NeighboursQuery, context: RequestContext,
  ): Promise<NeighboursAnswer> {
    const { directory, store, clock } = this.#deps
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
  async growth (query: { bank_id: string } & GrowthQuery, context: RequestContext): Promise<GrowthAnswer> {
    const { directory, store, clock } = this.#deps
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
}
