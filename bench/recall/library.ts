import { performance } from 'node:perf_hooks'
import type { MemoryService } from '../../lib/operations/memory-service.js'
import { summarize, type LatencySummary } from '../percentiles.js'
import { formatTable } from '../table.js'
import { builtService } from './built-service.js'
import type { Conversation } from './conversation.js'
import { makeCorpus, type CorpusMemory } from './library-corpus.js'
import type { Setting } from './setting.js'

const CALLS = 2000
const DEPTH = 25
const WARM_UP_CALLS = 300
const BANK = 'bench-library'
const WARM_UP_BANK = 'bench-warm-up'
const WARM_UP_MEMORIES = 300
const CONTEXT = { tenantId: null }
/** Milliseconds: p95 of a recall by memories in the bank, and processor time of indexing one memory. */
const RECALL_TARGETS: Readonly<Record<number, number>> = { 1500: 1.5, 20_000: 5 }
const INDEX_TARGET = 1

export interface LibraryFigures {
  memories: number
  recall_ms: LatencySummary
  /** Processor time of the whole process per recall: the more stable figure on a busy machine. */
  recall_cpu_ms: LatencySummary
  /** Processor time of the whole process per retained memory, and elapsed time. */
  index_cpu_ms: number
  index_ms: number
}

/**
 * Times the built memory library in this process, on the store in memory and without HTTP: single retains of a
 * generated corpus, then recalls with max_results 25, one after the other.
 */
export async function measureLibrary (conversations: readonly Conversation[], memories: number, setting: Pick<
  Setting, 'pipeline' | 'embedder'
>): Promise<LibraryFigures> {
  const corpus = makeCorpus(conversations, memories)
  const { service } = await builtService(setting)
  try {
    await retainAll(service, WARM_UP_BANK, corpus.memories.slice(0, WARM_UP_MEMORIES))
    const index = await timed(async () => { await retainAll(service, BANK, corpus.memories) })
    // Questions of all copies have their turn, whatever their number: 7919 is a prime.
    const queries =
      Array.from({ length: WARM_UP_CALLS + CALLS }, (_, call) => corpus.queries[(call * 7919) % corpus.queries.length]!)
    await recallAll(service, queries.slice(0, WARM_UP_CALLS))
    const recalls = await recallAll(service, queries.slice(WARM_UP_CALLS))
    return {
      memories,
      recall_ms: summarize(recalls.map(({ wallMs }) => wallMs)),
      recall_cpu_ms: summarize(recalls.map(({ cpuMs }) => cpuMs)),
      index_cpu_ms: index.cpuMs / memories,
      index_ms: index.wallMs / memories,
    }
  } finally {
    await service.close()
  }
}

async function retainAll (service: MemoryService, bank: string, memories: readonly CorpusMemory[]): Promise<void> {
  for (const { content, documentId, occurredAt } of memories) {
    await service.retain(
      { bank_id: bank, content, document_id: documentId, occurred_at: new Date(occurredAt).toISOString() }, CONTEXT,
    )
  }
}

async function recallAll (service: MemoryService, queries: readonly string[]): Promise<Cost[]> {
  const costs: Cost[] = []
  for (const query of queries) {
    costs.push(await timed(async () => { await service.recall({ bank_id: BANK, query, max_results: DEPTH }, CONTEXT) }))
  }
  return costs
}

interface Cost {
  wallMs: number
  cpuMs: number
}

async function timed (work: () => Promise<void>): Promise<Cost> {
  const started = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { wallMs: performance.now() - started, cpuMs: (user + system) / 1000 }
}

/** The figures for people, each with its target. */
export function formatLibrary (figures: readonly LibraryFigures[]): string {
  const target = (value: number | undefined) => value === undefined ? '' : `<= ${value}`
  return formatTable([
    [
      'memories', 'recall p50 ms', 'p95 ms', 'target', 'p99 ms', 'CPU p50 ms', 'CPU p95 ms', 'index CPU ms a memory',
      'target', 'on the clock',
    ],
    ...figures.map(({
      memories, recall_ms: { p50, p95, p99 }, recall_cpu_ms: cpu, index_cpu_ms: indexCpu, index_ms: indexMs,
    }) => [
      String(memories), p50.toFixed(2), p95.toFixed(2), target(RECALL_TARGETS[memories]),
      p99.toFixed(2), cpu.p50.toFixed(2), cpu.p95.toFixed(2), indexCpu.toFixed(2), target(INDEX_TARGET),
      indexMs.toFixed(2),
    ]),
  ])
}
