import { invalidField, ServiceError } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import { dayOf, formatDay, parseDay } from '../time/days.js'
import type { Dependencies } from './dependencies.js'
import { clamp } from './records.js'
import type { GrowthAnswer, GrowthQuery } from './schemas.js'

const DEFAULT_DAYS = 30
const MAX_DAYS = 366
/** Days before the year 0 have no form in RFC 3339. */
const FIRST_DAY = parseDay('0000-01-01')!

/** Shows a bank to people: how it grows, and a memory in its document. */
export class BankBrowser {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The memories of a bank by the day on which they were retained.
   * @throws ServiceError access_denied; invalid_request; not_supported with a store that cannot count by day
   */
  async growth (bankId: string, query: GrowthQuery, context: RequestContext): Promise<GrowthAnswer> {
    const { directory, store, clock } = this.#deps
    const { key } = await directory.openOne(context, 'read', bankId)
    const now = clock()
    const until = query.until === undefined ? dayOf(now) : parseDay(query.until)
    if (until === undefined) throw invalidField('until', 'must be a day as YYYY-MM-DD')
    if (store.countByDay === undefined) throw new ServiceError('not_supported', 'The configured vector store does not count memories by day')
    const from = Math.max(FIRST_DAY, until + 1 - clamp(query.days ?? DEFAULT_DAYS, 1, MAX_DAYS))
    const { before, byDay } = await store.countByDay(key, { now, from, until })
    const days = Array.from({ length: until + 1 - from }, (_, index) => (
      { day: formatDay(from + index), memory_count: byDay.get(from + index) ?? 0 }
    ))
    return { bank_id: bankId, from: formatDay(from), until: formatDay(until), count_before: before, days }
  }
}
