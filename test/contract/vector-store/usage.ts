import type { Test } from 'tap'
import type { UsageEntry, UsageReservation, VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemories, NOW } from '../../helpers/memories.js'
import { bank, REMOVE, type OpenStore } from './setup.js'

type Counting = VectorStore & Required<Pick<VectorStore, 'reserveUsage' | 'adjustUsage'>>

const home = bank('home')
const work = bank('work')
const DAY = 20_000

function wanted (amount: number, limit: number, more: Partial<UsageEntry> = {}): UsageReservation {
  return { bank: home, day: DAY, counter: 'calls', amount, limit, ...more }
}

function by (amount: number, more: Partial<UsageEntry> = {}): UsageEntry {
  return { bank: home, day: DAY, counter: 'calls', amount, ...more }
}

/** What is left of a limit, found by taking it all. */
async function rest (store: Counting, limit: number, more: Partial<UsageEntry> = {}): Promise<number> {
  let left = 0
  while (left <= limit && (await store.reserveUsage([wanted(1, limit, more)])).granted) left++
  return left
}

/** Skipped for a store that keeps no counts. */
export function usageContract (t: Test, open: OpenStore): void {
  const test = (about: string, run: (t: Test, store: Counting) => Promise<void>) => {
    t.test(about, async (t) => {
      const store = await open(t)
      if (store.reserveUsage === undefined || store.adjustUsage === undefined) {
        t.pass('the store keeps no counts of usage')
        return
      }
      await run(t, store as Counting)
    })
  }

  test('a count rises up to its limit, and an amount that does not fit leaves it unchanged', async (t, store) => {
    t.strictSame(await store.reserveUsage([wanted(3, 5)]), { granted: true })
    t.strictSame(await store.reserveUsage([wanted(3, 5)]), { granted: false, usedUp: 0 })
    t.strictSame(await store.reserveUsage([wanted(2, 5)]), { granted: true })
    t.strictSame(await store.reserveUsage([wanted(1, 5)]), { granted: false, usedUp: 0 })
    t.strictSame(await store.reserveUsage([wanted(0, 5)]), { granted: true })
    t.strictSame(await store.reserveUsage([wanted(1, 6)]), { granted: true }, 'the limit is that of the call')
    t.strictSame(await store.reserveUsage([wanted(0, 5)]), { granted: false, usedUp: 0 }, 'and may have become lower')
    t.strictSame(await store.reserveUsage([]), { granted: true })
  })

  test('the first amount of a day must fit as well', async (t, store) => {
    t.strictSame(await store.reserveUsage([wanted(6, 5)]), { granted: false, usedUp: 0 })
    t.equal(await rest(store, 5), 5)
  })

  test('each bank, tenant, day and counter has its own count', async (t, store) => {
    await store.reserveUsage([wanted(5, 5)])
    const others: Array<Partial<UsageEntry>> = [
      { bank: work }, { bank: bank('home', 'acme') }, { bank: bank('home', 'globex') }, { day: DAY + 1 },
      { day: DAY - 1 }, { counter: 'tokens' },
    ]
    for (const other of others) t.equal(await rest(store, 2, other), 2, JSON.stringify(other))
    t.equal(await rest(store, 5), 0)
  })

  test('several entries are counted together or not at all, in any order', async (t, store) => {
    const entries = [
      wanted(1, 2, { bank: work }), wanted(10, 100, { counter: 'tokens' }), wanted(1, 1),
      wanted(1, 2, { bank: bank('home', 'acme') }),
    ]
    t.strictSame(await store.reserveUsage(entries), { granted: true })
    t.strictSame(await store.reserveUsage(entries), { granted: false, usedUp: 2 })
    t.strictSame(await store.reserveUsage(entries.toReversed()), { granted: false, usedUp: 1 })
    t.equal(await rest(store, 2, { bank: work }), 1)
    t.equal(await rest(store, 2, { bank: bank('home', 'acme') }), 1)
    t.strictSame(await store.reserveUsage([wanted(90, 100, { counter: 'tokens' })]), { granted: true })
  })

  test('the same count twice in one call is counted twice, or not at all', async (t, store) => {
    t.match(await store.reserveUsage([wanted(2, 3), wanted(2, 3)]), { granted: false })
    t.strictSame(await store.reserveUsage([wanted(2, 4), wanted(2, 4)]), { granted: true })
    t.equal(await rest(store, 5), 1)
  })

  test('a correction raises a count, also above its limit, and lowers it, never below zero', async (t, store) => {
    await store.reserveUsage([wanted(5, 10), wanted(5, 10, { bank: work })])
    await store.adjustUsage([by(-2), by(7, { bank: work })])
    t.equal(await rest(store, 10), 7)
    t.strictSame(await store.reserveUsage([wanted(0, 11, { bank: work })]), { granted: false, usedUp: 0 })
    await store.adjustUsage([by(-1000)])
    t.equal(await rest(store, 10), 10)
    await store.adjustUsage([])
  })

  test('a correction of a count that does not exist creates none', async (t, store) => {
    await store.adjustUsage([by(3), by(-3, { bank: work })])
    t.equal(await rest(store, 2), 2)
    t.equal(await rest(store, 2, { bank: work }), 2)
  })

  test('amounts may be as large as any number', async (t, store) => {
    const most = Number.MAX_SAFE_INTEGER
    t.strictSame(await store.reserveUsage([wanted(most, most)]), { granted: true })
    t.strictSame(await store.reserveUsage([wanted(1, most)]), { granted: false, usedUp: 0 })
    t.strictSame(await store.reserveUsage([wanted(1, 1e300, { bank: work })]), { granted: true })
    await store.adjustUsage([by(1e300), by(most)])
    await store.adjustUsage([by(-1e300)])
    t.equal(await rest(store, 2), 2)
  })

  test('concurrent calls never bring a count above its limit, and can use it up completely', async (t, store) => {
    const one = [wanted(1, 15)]
    const three = [wanted(1, 15), wanted(1, 15, { bank: work }), wanted(10, 1e6, { counter: 'tokens' })]
    const shapes = [one, three, three.toReversed()]
    const outcomes =
      await Promise.all(Array.from({ length: 42 }, async (_, index) => await store.reserveUsage(shapes[index % 3]!)))
    t.equal(outcomes.filter(({ granted }) => granted).length, 15)
    t.equal(await rest(store, 15), 0)
  })

  test('concurrent corrections and reservations are all counted', async (t, store) => {
    await store.reserveUsage([wanted(50, 1000), wanted(50, 1000, { counter: 'tokens' })])
    await Promise.all(Array.from({ length: 30 }, async (_, index) => {
      const both = [by(index % 3 === 0 ? -1 : 1), by(1, { counter: 'tokens' })]
      if (index % 3 === 2) await store.reserveUsage(both.map((entry) => ({ ...entry, limit: 1000 })))
      else await store.adjustUsage(index % 2 === 0 ? both : both.toReversed())
    }))
    // 50 with 10 less, 10 more and 10 reserved; 50 with 30 more.
    t.equal(await rest(store, 70), 10)
    t.equal(await rest(store, 90, { counter: 'tokens' }), 10)
  })

  test('removing memories from a bank returns nothing of its daily quota', async (t, store) => {
    await store.insert(home, await newMemories(['one']), { now: NOW })
    await store.reserveUsage([wanted(2, 3)])
    await store.remove(home, { kind: 'all' }, REMOVE)
    t.equal(await rest(store, 3), 1)
  })
}
