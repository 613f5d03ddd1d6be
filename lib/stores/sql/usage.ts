import { exponentialBackOff, retry } from '../../concurrency/retry.js'
import type { UsageEntry, UsageOutcome, UsageReservation } from '../vector-store.js'
import { retrySerializationFailures, SqlError, type Executor, type Param, type Queries } from './executor.js'
import { bankParameters } from './rows.js'

/** Attempts at a correction that finds no free connection, and the maximum of the first pause in milliseconds. */
const CORRECTION_ATTEMPTS = 6
const CORRECTION_PAUSE_MS = 200
/** A count stays within the integers that a double represents exactly. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER

/** Thrown to roll back a reservation of which one entry exceeds its limit. */
class LimitReached extends Error {
  readonly usedUp: number

  constructor (usedUp: number) {
    super('The limit of a count is reached')
    this.usedUp = usedUp
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
  const reserve = async (queries: Queries, { index, entry }: IndexedEntry<UsageReservation>) => {
    const rows = entry.amount > entry.limit
      ? []
      : await queries.query(statement, [...parameters(entry), toSafeInteger(entry.limit)])
    if (rows.length === 0) throw new LimitReached(index)
  }
  try {
    await eachInOrder(executor, entries, reserve)
    return { granted: true }
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error
    return { granted: false, usedUp: error.usedUp }
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
  const adjust = async (queries: Queries, { entry }: IndexedEntry<UsageEntry>) => {
    await queries.query(statement, parameters(entry))
  }
  await retry(async () => { await eachInOrder(executor, entries, adjust) }, {
    delayMs: (error, failures) => {
      if (!(error instanceof SqlError && error.kind === 'busy') || failures === CORRECTION_ATTEMPTS) return undefined
      return (1 + Math.random()) / 2 * exponentialBackOff(failures, CORRECTION_PAUSE_MS)
    },
  })
}

interface IndexedEntry<Entry> {
  entry: Entry
  index: number
}

/** All callers lock the rows in the same order, which prevents deadlocks. */
async function eachInOrder<Entry extends UsageEntry> (
  executor: Executor, entries: readonly Entry[], work: (queries: Queries, placed: IndexedEntry<Entry>) => Promise<void>,
): Promise<void> {
  const [first, ...rest] = entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => compareKeys(keyOf(a.entry), keyOf(b.entry)))
  if (first === undefined) return
  if (rest.length === 0) {
    await work(executor, first)
    return
  }
  await retrySerializationFailures(async () => {
    await executor.transaction(async (tx) => {
      for (const placed of [first, ...rest]) await work(tx, placed)
    }, { keepPlans: true })
  })
}

function keyOf ({ bank, day, counter }: UsageEntry): Array<string | number> {
  return [...bankParameters(bank), day, counter]
}

function compareKeys (a: ReadonlyArray<string | number>, b: ReadonlyArray<string | number>): number {
  const differing = a.findIndex((part, index) => part !== b[index])
  return differing < 0 ? 0 : a[differing]! < b[differing]! ? -1 : 1
}

function parameters ({ bank, day, counter, amount }: UsageEntry): Param[] {
  return [...bankParameters(bank), day, counter, toSafeInteger(amount)]
}

/** Limits an amount to the range of a count. */
function toSafeInteger (amount: number): number {
  return Math.max(-MAX_COUNT, Math.min(amount, MAX_COUNT))
}
