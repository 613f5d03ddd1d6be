import { bankKeyString } from '../../identity/context.js'
import type { UsageEntry, UsageOutcome, UsageReservation } from '../vector-store.js'
import { statementsOf, type Executor, type Param, type Queries } from './executor.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters } from './rows.js'
import type { UsageStatements } from './usage-statements.js'

/** Thrown to roll back a reservation of which one entry exceeds its limit. */
class LimitReached extends Error {
  readonly usedUp: number

  constructor (usedUp: number) {
    super('A count has no room')
    this.usedUp = usedUp
  }
}

/**
 * Counts an intended use, all entries or none. One entry is a single statement; several are a transaction in the order
 * of their keys.
 */
export async function reserveUsage (
  executor: Executor, statements: UsageStatements, entries: readonly UsageReservation[],
): Promise<UsageOutcome> {
  const reserve = async (queries: Queries, { index, entry }: IndexedEntry<UsageReservation>) => {
    const rows = await queries.query(statements.reserve, [...parameters(entry), toSafeInteger(entry.limit)])
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

/** Corrects counts. Not retried when its outcome is unknown: an amount returned twice could be spent twice. */
export async function adjustUsage (
  executor: Executor, statements: UsageStatements, entries: readonly UsageEntry[],
): Promise<void> {
  await eachInOrder(executor, entries, async (queries, { entry }) => {
    await queries.query(statements.adjust, parameters(entry))
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
  const flow = bankKeyString(first.entry.bank)
  if (rest.length === 0) {
    await work(statementsOf(executor, { flow }), first)
    return
  }
  await retrySerializationFailures(async () => {
    await executor.transaction(async (tx) => {
      for (const placed of [first, ...rest]) await work(tx, placed)
    }, { keepPlans: true, flow })
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
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(amount, Number.MAX_SAFE_INTEGER))
}
