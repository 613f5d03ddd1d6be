import type { RateLimiterPostgres } from 'rate-limiter-flexible'
import { bankKeyString } from '../../access/context.js'
import { exponentialBackOff, retry } from '../../base/retry.js'
import { compareText } from '../../text/normal-form.js'
import { RATE_LIFETIME_SECONDS, type UsageEntry, type UsageOutcome, type UsageReservation } from '../vector-store.js'
import { retrySerializationFailures, SqlError, type Executor, type Param, type Queries } from './executor.js'

/** Attempts at a correction that finds no free connection, and the maximum of the first pause in milliseconds. */
const CORRECTION_ATTEMPTS = 6
const CORRECTION_PAUSE_MS = 200
/** A count stays within the integers that a double represents exactly. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER

/** Thrown to roll back a reservation of which one entry exceeds its limit. */
class LimitReached extends Error {
  readonly entry: UsageReservation

  constructor (entry: UsageReservation) {
    super('The limit of a count is reached')
    this.entry = entry
  }
}

/**
 * Counts an intended use, all entries or none. One entry is a single statement; several are a transaction in the order
 * of their keys.
 */
export async function reserveUsage (
  executor: Executor, schema: string, entries: readonly UsageReservation[],
): Promise<UsageOutcome> {
  // Returns a row when the limit $5 allows an amount that is not above it.
  const statement = `insert into ${schema}.daily_usage as u (bank_key, day, counter, used)
values ($1, $2::int, $3, $4::float8::bigint)
on conflict (bank_key, day, counter) do update set used = u.used + excluded.used
where u.used + excluded.used <= $5::float8::bigint
returning u.counter`
  try {
    await eachInOrder(executor, entries, async (queries, entry) => {
      const rows = entry.amount > entry.limit
        ? []
        : await queries.query(statement, [...parameters(entry), toCount(entry.limit)])
      if (rows.length === 0) throw new LimitReached(entry)
    })
    return { granted: true }
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error
    return { granted: false, usedUp: entries.indexOf(error.entry) }
  }
}

/**
 * Corrects counts. Not retried when its outcome is unknown: an amount returned twice could be spent twice. Without a
 * free connection nothing was sent, so it is retried: most refunds are due when requests are refused for that reason.
 */
export async function adjustUsage (
  executor: Executor, schema: string, entries: readonly UsageEntry[],
): Promise<void> {
  const statement = `update ${schema}.daily_usage u
set used = least(greatest(u.used + $4::float8::bigint, 0), ${MAX_COUNT})
where u.bank_key = $1 and u.day = $2::int and u.counter = $3`
  const adjust = async () => {
    await eachInOrder(executor, entries, async (queries, entry) => {
      await queries.query(statement, parameters(entry))
    })
  }
  await retry(adjust, {
    delayMs: (error, failures) => {
      if (!(error instanceof SqlError && error.kind === 'busy') || failures === CORRECTION_ATTEMPTS) return undefined
      return (1 + Math.random()) / 2 * exponentialBackOff(failures, CORRECTION_PAUSE_MS)
    },
  })
}

/** Counts the use of rate limits, each in one statement. @param schema quoted */
export function rateCounter (executor: Executor, schema: string): (key: string, amount: number) => Promise<number> {
  let counts: RateLimiterPostgres | undefined
  const open = async () => new (await import('rate-limiter-flexible')).RateLimiterPostgres({
    storeClient: {
      query: async ({ text, values }: { text: string, values: Param[] }) => (
        { rows: await executor.query(text, values) }
      ),
    },
    storeType: 'client',
    schemaName: schema.replaceAll('"', ''),
    tableName: 'rate_limits',
    // By the migration; the sweeper removes what has expired.
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: '',
    points: MAX_COUNT,
    duration: RATE_LIFETIME_SECONDS,
  })
  return async (key, amount) => {
    counts ??= await open()
    const { consumedPoints } = amount < 0 ? await counts.reward(key, -amount) : await counts.penalty(key, amount)
    // The driver returns a bigint as text.
    return Number(consumedPoints)
  }
}

/** All callers lock the rows in the same order, which prevents deadlocks. */
async function eachInOrder<Entry extends UsageEntry> (
  executor: Executor, entries: readonly Entry[], work: (queries: Queries, entry: Entry) => Promise<void>,
): Promise<void> {
  const keyOf = ({ bank, day, counter }: Entry) => JSON.stringify([bankKeyString(bank), day, counter])
  const ordered = entries.toSorted((a, b) => compareText(keyOf(a), keyOf(b)))
  if (ordered.length === 0) return
  if (ordered.length === 1) return await work(executor, ordered[0]!)
  await retrySerializationFailures(async () => {
    await executor.transaction(async (tx) => {
      for (const entry of ordered) await work(tx, entry)
    }, { keepPlans: true })
  })
}

function parameters ({ bank, day, counter, amount }: UsageEntry): Param[] {
  return [bankKeyString(bank), day, counter, toCount(amount)]
}

/** Limits an amount to the range of a count. */
function toCount (amount: number): number {
  return Math.max(-MAX_COUNT, Math.min(amount, MAX_COUNT))
}
