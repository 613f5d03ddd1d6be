import { performance } from 'node:perf_hooks'
import type { Statement } from '../../lib/stores/sql/fragments.js'
import { nearestStatement, searchStatement, type Nearest } from '../../lib/stores/sql/searcher.js'
import type { SearchRequest, SearchResult } from '../../lib/stores/vector-store.js'
import { mean, summarize } from '../percentiles.js'
import { SPACE, type Strategy } from './data.js'
import type { BenchDatabase, OpenStore } from './database.js'

/** Calls of one kind before those of the other: noise of the machine affects both. */
const TURN = 50

export interface CellResult {
  banks: string
  strategy: Strategy
  connections: number
  searches: number
  p50_ms: number
  p95_ms: number
  /** Processor time per search in the database's backends; null where it is not available. */
  database_cpu_ms: number | null
  /** The same in this process, all its threads together. */
  gateway_cpu_ms: number
  /** The statement alone, without the store; null where only the store was measured. */
  raw_p50_ms: number | null
  raw_cpu_ms: number | null
  /** Memories that a search found on average, whatever its limit. */
  found: number
}

export interface CellOptions {
  banks: string
  strategy: Strategy
  connections: number
  /** The first of them only warm up. */
  requests: readonly SearchRequest[]
  warmUp: number
}

interface Tally {
  durations: number[]
  database: Array<number | undefined>
  gateway: number[]
}

/** One kind of search at one number of connections. With a single one the raw statement is measured beside it. */
export async function measureCell (
  database: BenchDatabase, { store, indexes }: OpenStore, options: CellOptions,
): Promise<CellResult> {
  const { banks, strategy, connections, requests, warmUp } = options
  const results: SearchResult[] = []
  const search = async (request: SearchRequest) => { results.push(await store.search(request)) }
  const raw = async (request: SearchRequest) => {
    await runRaw(database, request, indexes.passagesPerMemory(request.banks[0]!) !== undefined)
  }
  const single = connections === 1
  await runAll(requests.slice(0, warmUp), connections, search)
  if (single) await runAll(requests.slice(0, warmUp), 1, raw)
  results.length = 0
  const [ofStore, ofRaw] = [tally(), tally()]
  const measured = requests.slice(warmUp)
  // The second of the two finds the pages of its turn cached, so their order alternates.
  for (let from = 0, turn = 0; from < measured.length; from += TURN, turn++) {
    const part = measured.slice(from, from + TURN)
    if (single && turn % 2 === 1) await timed(database, 'raw', ofRaw, part, 1, raw)
    await timed(database, 'store', ofStore, part, connections, search)
    if (single && turn % 2 === 0) await timed(database, 'raw', ofRaw, part, 1, raw)
  }
  const { p50, p95 } = summarize(ofStore.durations)
  return {
    banks,
    strategy,
    connections,
    searches: measured.length,
    p50_ms: p50,
    p95_ms: p95,
    database_cpu_ms: cpuEach(ofStore),
    gateway_cpu_ms: ofStore.gateway.reduce((sum, value) => sum + value, 0) / measured.length,
    raw_p50_ms: single ? summarize(ofRaw.durations).p50 : null,
    raw_cpu_ms: single ? cpuEach(ofRaw) : null,
    found: mean(results.map(({ total }) => total)),
  }
}

/** Runs only the statements that the store makes for a search of one bank. */
export async function runRaw ({ raw, schema }: Pick<
  BenchDatabase, 'raw' | 'schema'
>, request: SearchRequest, indexed: boolean): Promise<Array<Record<string, unknown>>> {
  const bank = request.banks[0]!
  const run = async <R extends object>({ text, values }: Statement, mode: string): Promise<R[]> => {
    await raw.unsafe(`set plan_cache_mode = ${mode}`)
    return [...await raw.unsafe<R[]>(text, [...values] as Parameters<typeof raw.unsafe>[1], { prepare: true })]
  }
  const first = indexed && request.semantic !== undefined
    ? nearestStatement(bank, request, request.semantic.vector, { schema, space: SPACE })
    : undefined
  const [nearest] = first === undefined ? [] : await run<Nearest>(first, 'force_custom_plan')
  const statement = searchStatement(bank, request, { schema, part: 'current', space: SPACE, nearest })
  return statement === undefined ? [] : await run(statement, 'force_generic_plan')
}

/** Measures processor time per call in the backends and in this process. */
export async function timed<T> (
  database: BenchDatabase, of: 'store' | 'raw', into: Tally, items: readonly T[], connections: number,
  call: (item: T) => Promise<void>,
): Promise<void> {
  const spent = await database.cpuMeter(of)
  const before = process.cpuUsage()
  into.durations.push(...await runAll(items, connections, call))
  const { user, system } = process.cpuUsage(before)
  into.gateway.push((user + system) / 1000)
  into.database.push(spent())
}

export function tally (): Tally {
  return { durations: [], database: [], gateway: [] }
}

/** @returns milliseconds of the backends per call; null where they are not available */
export function cpuEach ({ durations, database }: Tally): number | null {
  if (database.includes(undefined)) return null
  return database.reduce<number>((sum, value) => sum + value!, 0) / durations.length
}

/** @returns the duration of each call, in milliseconds */
async function runAll<T> (
  items: readonly T[], connections: number, call: (item: T) => Promise<void>,
): Promise<number[]> {
  const durations: number[] = []
  const queue = items.values()
  const next = async () => {
    for (const item of queue) {
      const started = performance.now()
      await call(item)
      durations.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: connections }, next))
  return durations
}
