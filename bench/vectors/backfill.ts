import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { startGateway, type ChildServer } from '../child-server.js'
import { cpuTimeMs } from '../http/cpu-time.js'
import { JsonClient } from '../json-client.js'
import { summarize, type LatencySummary } from '../percentiles.js'
import { untilEmbedded } from '../recall/until-embedded.js'
import { overHttp, type MeasuredService } from '../recall/measured-service.js'
import type { Texts } from './texts.js'

const CONFIGURATION = 'vector_store: in_memory\nembedding_provider: local\n'
const [ASKED, BACKLOG] = ['bench-asked', 'bench-backlog']
const ASKED_MEMORIES = 1000
const BATCH = 100
const CHARACTERS = 200
const QUERY_CHARACTERS = 40
const QUIET_RECALLS = 200
const WARM_UP = 30
/** Pause between two recalls, as with a user's agents, instead of a flood that occupies the processor. */
const PAUSE_MS = 10
const LIMIT_MS = 60 * 60_000

export interface BackfillResult {
  memories: number
  seconds: number
  /** Processor time of the gateway per memory while vectors are made, recalls included. */
  cpu_ms: number | undefined
  recalls: number
  quiet: LatencySummary
  busy: LatencySummary
  /** The p95 while vectors are made, divided by that before and after. */
  ratio: number
}

/**
 * Latency of recalls in one bank while the vectors of another are made, and before and after that. No query is
 * repeated.
 */
export async function measureBackfill (texts: Texts, memories: number): Promise<BackfillResult> {
  const server = await startGateway(CONFIGURATION)
  const clients = [new JsonClient(server.url), new JsonClient(server.url)]
  try {
    const [asking, writing] = clients.map((client) => overHttp(client)) as [MeasuredService, MeasuredService]
    await write(writing, ASKED, texts, ASKED_MEMORIES)
    await untilEmbedded(async () => await writing.statistics(ASKED), { limitMs: LIMIT_MS })
    await recalls(asking, texts, WARM_UP)
    const quiet = await recalls(asking, texts, QUIET_RECALLS)
    const { durations, seconds, cpu } = await recallDuringBackfill(server, { asking, writing, texts, memories })
    quiet.push(...await recalls(asking, texts, QUIET_RECALLS))
    const [calm, busy] = [summarize(quiet), summarize(durations)]
    return {
      memories,
      seconds,
      cpu_ms: cpu === undefined ? undefined : cpu / memories,
      recalls: durations.length,
      quiet: calm,
      busy,
      ratio: busy.p95 / calm.p95,
    }
  } finally {
    for (const client of clients) client.close()
    await server.stop()
  }
}

interface Work {
  asking: MeasuredService
  writing: MeasuredService
  texts: Texts
  memories: number
}

/**
 * Counts only recalls that begin after the last write and end before all vectors are made, because writes have their
 * own cost.
 */
async function recallDuringBackfill (
  { pid }: ChildServer, { asking, writing, texts, memories }: Work,
): Promise<{ durations: number[], seconds: number, cpu: number | undefined }> {
  await write(writing, BACKLOG, texts, memories)
  const started = performance.now()
  const before = cpuTimeMs(pid)
  const done = new AbortController()
  const backfilled =
    untilEmbedded(async () => await writing.statistics(BACKLOG), { limitMs: LIMIT_MS }).finally(() => { done.abort() })
  const durations: number[] = []
  while (!done.signal.aborted) durations.push(...await recalls(asking, texts, 1))
  await backfilled
  const after = cpuTimeMs(pid)
  const cpu = before === undefined || after === undefined ? undefined : after - before
  return { durations, seconds: (performance.now() - started) / 1000, cpu }
}

async function write (service: MeasuredService, bank: string, texts: Texts, memories: number): Promise<void> {
  for (let written = 0; written < memories; written += BATCH) {
    const items =
      Array.from({ length: Math.min(BATCH, memories - written) }, () => ({ content: texts.next(CHARACTERS) }))
    await service.retainBatch({ bank_id: bank, items })
  }
}

async function recalls (service: MeasuredService, texts: Texts, count: number): Promise<number[]> {
  const durations: number[] = []
  for (let recall = 0; recall < count; recall++) {
    const { durationMs } =
      await service.recall({ bank_id: ASKED, query: texts.next(QUERY_CHARACTERS), max_results: 10 })
    durations.push(durationMs)
    await delay(PAUSE_MS)
  }
  return durations
}
