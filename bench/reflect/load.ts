import { setImmediate } from 'node:timers/promises'
import { summarize } from '../percentiles.js'
import type { ChildServer } from '../child-server.js'
import { reflectBodies, startReflecting } from './bank.js'
import { ReflectClient, type Mode, type ReflectResult } from './client.js'
import { probeLive, type Liveness } from './liveness.js'
import { memoryAfterGc, watchResident, type Memory } from './memory.js'
import type { Options } from './options.js'
import type { ScriptedModel } from './scripted-model.js'

/** Requests sent at the same moment, and all of their answers. */
export interface Wave {
  /** Number of answers of each kind. */
  outcomes: Record<string, number>
  p50_ms: number
  max_ms: number
  /** How long after its deadline the latest answer ended; 0 when all were in time. */
  late_ms: number
  rss_peak_mb: number | null
  /** Memory after the wave. */
  after: Memory
}

/** Several waves of one kind on a gateway of their own. */
export interface Load {
  mode: Mode
  /** null: the gateway's default. */
  timeout_ms: number | null
  before: Memory
  waves: Wave[]
  live: { gateway: Liveness, model: Liveness }
  /** Maximum concurrent calls of the model. */
  max_concurrent_model_calls: number
}

/** The gateway's default (reflect.timeout_ms). */
const DEFAULT_TIMEOUT_MS = 60_000
const WARM_UP_CALLS = 300
const WARM_UP_CONCURRENCY = 16
const REQUESTS_PER_TURN = 10

export async function measureLoad (
  model: ScriptedModel, mode: Mode, timeoutMs: number | null, options: Options,
): Promise<Load> {
  const gateway = await startReflecting(model.url, options.maxConcurrency)
  const client = new ReflectClient(gateway.url, options.concurrent)
  try {
    await model.setDelay(0)
    await warmUp(client, mode)
    // Node accepts one connection per turn of the event loop, which is not part of what is measured.
    await client.connect(options.concurrent)
    await model.setDelay(options.modelMs)
    await model.report()
    const before = await memoryAfterGc(gateway)
    const endProbing = await probeLive([gateway.url, model.url])
    const waves: Wave[] = []
    for (let number = 0; number < options.waves; number++) {
      waves.push(await wave(gateway, client, mode, timeoutMs, options.concurrent))
    }
    const [ofGateway, ofModel] = await endProbing()
    const { max_concurrent_calls: maxConcurrentCalls } = await model.report()
    return {
      mode,
      timeout_ms: timeoutMs,
      before,
      waves,
      live: { gateway: ofGateway!, model: ofModel! },
      max_concurrent_model_calls: maxConcurrentCalls,
    }
  } finally {
    client.close()
    await gateway.stop()
  }
}

async function warmUp (client: ReflectClient, mode: Mode): Promise<void> {
  const bodies = reflectBodies()
  for (let from = 0; from < WARM_UP_CALLS; from += WARM_UP_CONCURRENCY) {
    const batch = bodies.slice(from, from + WARM_UP_CONCURRENCY)
    await Promise.all(batch.map(async (body) => await client.reflect(body, mode)))
  }
}

async function wave (
  gateway: ChildServer, client: ReflectClient, mode: Mode, timeoutMs: number | null, concurrent: number,
): Promise<Wave> {
  const bodies = reflectBodies(timeoutMs ?? undefined)
  const endWatch = watchResident(gateway.pid)
  const reflecting: Array<Promise<ReflectResult>> = []
  while (reflecting.length < concurrent) {
    reflecting.push(client.reflect(bodies[reflecting.length % bodies.length]!, mode))
    // Otherwise the time of the first request would include writing the others.
    if (reflecting.length % REQUESTS_PER_TURN === 0) await setImmediate()
  }
  const results = await Promise.all(reflecting)
  const peak = endWatch()
  return {
    ...summarizeWave(results, timeoutMs ?? DEFAULT_TIMEOUT_MS),
    rss_peak_mb: peak,
    after: await memoryAfterGc(gateway),
  }
}

export function summarizeWave (results: readonly ReflectResult[], timeoutMs: number): Pick<
  Wave, 'outcomes' | 'p50_ms' | 'max_ms' | 'late_ms'
> {
  const outcomes: Record<string, number> = {}
  for (const { outcome } of results) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  const durations = results.map(({ durationMs }) => durationMs)
  const longest = Math.max(...durations)
  return { outcomes, p50_ms: summarize(durations).p50, max_ms: longest, late_ms: Math.max(0, longest - timeoutMs) }
}
