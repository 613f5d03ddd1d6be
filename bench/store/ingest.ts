import type { NewMemory } from '../../lib/stores/vector-store.js'
import { summarize } from '../percentiles.js'
import { cpuEach, tally, timed } from './cell.js'
import { emptyBank, NOW, type Bank, type MemorySource } from './data.js'
import type { BenchDatabase, OpenStore } from './database.js'

const BATCH = 250
/** Memories that are generated before they are stored, so that no figure includes generating them. */
const GENERATED_AHEAD = 2000
const SINGLE_WRITES = 300

export interface IngestResult {
  what: string
  memories: number
  /** Memories of one call; the last one of a bank may have fewer. */
  batch: number
  memories_per_second: number
  /** Median duration of one call. */
  p50_ms: number
  /** Processor time per memory in the database's backends; null where it is not available. */
  database_cpu_ms: number | null
  /** The same in this process. */
  gateway_cpu_ms: number
}

interface Call {
  bank: Bank
  memories: NewMemory[]
}

/** Fills banks one after the other, over one connection. */
export async function ingest (
  database: BenchDatabase, { store }: OpenStore, source: MemorySource, what: string, banks: readonly Bank[],
  memoriesEach: number, batch = BATCH,
): Promise<IngestResult> {
  const into = tally()
  const insert = async ({ bank, memories }: Call) => { await store.insert(bank.key, memories, { now: NOW }) }
  // An idle connection may have been closed, and the readings would miss the backend of one that opens between them.
  await store.health()
  let calls: Call[] = []
  let waiting = 0
  const flush = async () => {
    await timed(database, 'store', into, calls, 1, insert)
    calls = []
    waiting = 0
  }
  for (const bank of banks) {
    for (let left = memoriesEach; left > 0; left -= batch) {
      const memories = source.fill(bank, Math.min(batch, left))
      calls.push({ bank, memories })
      waiting += memories.length
      if (waiting >= GENERATED_AHEAD) await flush()
    }
  }
  if (calls.length > 0) await flush()
  const memories = banks.length * memoriesEach
  const cpu = cpuEach(into)
  return {
    what,
    memories,
    batch: Math.min(batch, memoriesEach),
    memories_per_second: memories / into.durations.reduce((sum, value) => sum + value, 0) * 1000,
    p50_ms: summarize(into.durations).p50,
    database_cpu_ms: cpu === null ? null : cpu * into.durations.length / memories,
    gateway_cpu_ms: into.gateway.reduce((sum, value) => sum + value, 0) / memories,
  }
}

/** Memories one by one, as a retain stores them. */
export async function ingestSingly (
  database: BenchDatabase, open: OpenStore, source: MemorySource, what: string, bank: Bank = emptyBank('single'),
): Promise<IngestResult> {
  return await ingest(database, open, source, what, [bank], SINGLE_WRITES, 1)
}
