import { performance } from 'node:perf_hooks'
import { startGateway } from '../child-server.js'
import { JsonClient } from '../json-client.js'
import { summarize } from '../percentiles.js'
import { residentMegabytes } from '../resident-memory.js'
import { cpuEach, tally, timed } from '../store/cell.js'
import { type Bank, emptyBank, type MemorySource, searches, SPACE, type Strategy } from '../store/data.js'
import type { BenchDatabase } from '../store/database.js'
import { type OpenStore } from '../store/database.js'
import { ingest } from '../store/ingest.js'

/** What a search costs at one size. */
interface SearchCost {
  p50_ms: number
  p95_ms: number
  /** Processor time of the database; null where it is not available. */
  database_cpu_ms: number | null
}

interface Point {
  /** Memories of the bank, or banks. */
  size: number
  memories: number
  /** Of the memories that were added since the point before. */
  memories_per_second: number
  ingest_database_cpu_ms: number | null
  /** Null without a vector index. */
  index_build_seconds: number | null
  hybrid: SearchCost
  lexical: SearchCost
  vector: SearchCost
  /** All tables and indexes. */
  bytes: number
  /** Resident memory of a gateway on this database, after its recalls. */
  gateway_mb: number | null
}

export interface Curve {
  kind: 'bank' | 'banks'
  database: string
  date: string
  points: Point[]
}

/** Memories of each bank of many. */
const SMALL_BANK = 5
const INDEX_FROM = 20_000
const [WARM_UP, SEARCHES] = [50, 200]
const RECALLS = 300
/** Names are kept of so many of the banks, for searches. */
const SEARCHED_BANKS = 1000

/** Fills one bank, or more and more of them, tenfold from point to point, and measures each. */
export async function measureCurve (
  database: BenchDatabase, source: MemorySource,
  { url, kind, upTo }: { url: string, kind: Curve['kind'], upTo: number }, onPoint: (curve: Curve) => Promise<void>,
): Promise<void> {
  const open = await database.open(1, INDEX_FROM)
  const curve: Curve = {
    kind, database: database.version, date: new Date().toISOString().slice(0, 10), points: [],
  }
  const big = emptyBank('big')
  const banks: Bank[] = []
  let size = 0
  for (let next = kind === 'bank' ? 1000 : 10; next <= upTo; next *= 10) {
    const added = kind === 'bank'
      ? [big]
      : Array.from({ length: next - size }, (_, at) => emptyBank(`bank-${size + at}`))
    const stored = await ingest(
      database, open, source, 'curve', added, kind === 'bank' ? next - size : SMALL_BANK,
    )
    for (const bank of added) if (banks.length < SEARCHED_BANKS && !banks.includes(bank)) banks.push(bank)
    size = next
    const started = performance.now()
    await open.indexes.maintain(() => {})
    const seconds = (performance.now() - started) / 1000
    await open.indexes.update(SPACE, () => {})
    const isIndexed = open.indexes.passagesPerMemory(big.key) !== undefined
    await database.settle()
    curve.points.push({
      size,
      memories: kind === 'bank' ? size : size * SMALL_BANK,
      memories_per_second: stored.memories_per_second,
      ingest_database_cpu_ms: stored.database_cpu_ms,
      index_build_seconds: isIndexed ? seconds : null,
      hybrid: await searchCost(database, open, banks, 'hybrid'),
      lexical: await searchCost(database, open, banks, 'lexical'),
      vector: await searchCost(database, open, banks, 'vector'),
      bytes: await bytesOf(database),
      gateway_mb: await gatewayMemory(database, url, banks),
    })
    await onPoint(curve)
  }
}

async function searchCost (
  database: BenchDatabase, { store }: OpenStore, banks: readonly Bank[], strategy: Strategy,
): Promise<SearchCost> {
  const requests = searches(banks, strategy, WARM_UP + SEARCHES)
  const search = async (request: typeof requests[number]) => { await store.search(request) }
  await timed(database, 'store', tally(), requests.slice(0, WARM_UP), 1, search)
  const measured = tally()
  await timed(database, 'store', measured, requests.slice(WARM_UP), 1, search)
  const { p50, p95 } = summarize(measured.durations)
  return { p50_ms: p50, p95_ms: p95, database_cpu_ms: cpuEach(measured) }
}

async function bytesOf (database: BenchDatabase): Promise<number> {
  const [row] = await database.run<{ bytes: number }>(`select sum(pg_total_relation_size(oid))::float8 as bytes
from pg_class where relnamespace = $1::regnamespace and relkind = 'r'`, [database.schema])
  return row!.bytes
}

async function gatewayMemory (database: BenchDatabase, url: string, banks: readonly Bank[]): Promise<number | null> {
  const settings = { schema: database.schema.replaceAll('"', ''), bootstrap_schema: false }
  const gateway = await startGateway(JSON.stringify({
    vector_store: 'postgres', vector_store_config: settings, embedding_provider: 'mock',
  }), {
    DATABASE_URL: url,
  })
  const client = new JsonClient(gateway.url)
  try {
    for (let at = 0; at < RECALLS; at++) {
      const { key: { bankId }, texts } = banks[at % banks.length]!
      await client.post('/v1/recall', { bank_id: bankId, query: texts[at % texts.length]!.text.slice(0, 40) })
    }
    return residentMegabytes(gateway.pid) ?? null
  } finally {
    client.close()
    await gateway.stop()
  }
}
