import { setTimeout as delay } from 'node:timers/promises'
import type { ChildServer } from '../../bench/child-server.js'
import { sendOk, Tally } from './client.js'
import { configurationOf, type Input } from './inputs/input.js'
import { Prober, type Liveness } from './probes.js'
import { OWN_BANK, OWNER, startTarget, type Target, type TargetOptions } from './target.js'
import { faultsOf, isAllowed, mayBeNoise, type Measured } from './verdict.js'

/** The result of an input on a store. */
export interface Result extends Measured {
  input: string
  store: string
  status: string
  seconds: number
  machineMs: number
  /** The faults; an input without faults has passed. */
  verdict: string[]
  /** The number of runs. */
  runs: number
}

/** The time limit of an input. */
const INPUT_LIMIT_MS = 300_000
const REPEATS = 2
/** Time in which connections close, files are removed and the remaining work ends. */
const SETTLE_MS = 10_000
const DELAY_AFTER_MS = 500
const WATCH_EVERY_MS = 100

/** Runs an input on a new target. It is repeated if noise of the machine may be the cause of a fault. */
export async function measureInput (input: Input, options: TargetOptions, idleServer: ChildServer): Promise<Result> {
  let best: Result | undefined
  for (let run = 1; run <= 1 + REPEATS; run++) {
    const result = { ...await measureOnce(input, options, idleServer), runs: run }
    if (result.verdict.length === 0 || !mayBeNoise(result)) return result
    if (best === undefined || result.worstMs < best.worstMs) best = result
  }
  return best!
}

async function measureOnce (
  input: Input, options: TargetOptions, idleServer: ChildServer,
): Promise<Omit<Result, 'runs'>> {
  const target = await startTarget({ ...options, configuration: await configurationOf(input) })
  const prober = new Prober(target, idleServer)
  try {
    await warmUp(target)
    await prepare(input, target)
    return await runWithProbes(target, prober, input)
  } finally {
    await prober.stop()
    await target.stop()
  }
}

async function prepare (input: Input, target: Target): Promise<void> {
  await input.prepare?.(target)
  await delay(DELAY_AFTER_MS)
}

/** The first request of each kind loads code, which is not measured. */
export async function warmUp (target: Target): Promise<void> {
  await sendOk(target, {
    path: '/v1/retain', body: JSON.stringify({ bank_id: OWN_BANK, content: 'The ferry leaves at nine.' }),
  })
  await sendOk(target, { path: '/v1/recall', body: JSON.stringify({ bank_id: OWN_BANK, query: 'ferry' }) })
  await sendOk(target, {
    path: '/v1/forget', principal: OWNER, body: JSON.stringify({ bank_id: OWN_BANK, scope: 'all' }),
  })
}

/** Runs an input that is prepared. */
export async function runWithProbes (target: Target, prober: Prober, input: Input): Promise<Omit<Result, 'runs'>> {
  const before = { descriptors: target.descriptors(), files: target.files() }
  const tally = new Tally()
  target.resetPeak()
  let peakMb = target.peakMb()
  // If the process dies, the last sample is kept.
  const look = () => { peakMb = target.peakMb() ?? peakMb }
  const watch = setInterval(look, WATCH_EVERY_MS)
  const startedAt = Date.now()
  let faults: string[]
  let seconds: number
  let live: Liveness
  try {
    await prober.begin()
    faults = await runWithin(input, target, tally)
    seconds = (Date.now() - startedAt) / 1000
    await delay(DELAY_AFTER_MS)
    live = await prober.end()
    look()
  } finally {
    clearInterval(watch)
  }
  const left = await settle(target, before)
  const measured: Measured = {
    alive: target.alive(),
    worstMs: live.worstMs,
    newConnectionWorstMs: live.newConnectionWorstMs,
    peakMb,
    idleMb: target.idleMb,
    badAnswers: tally.statuses().filter((status) => !isAllowed(status, input.allowed)).map((status) => (
      `${status} x${tally.count(status)}`
    )),
    faults,
    ...left,
  }
  return {
    input: input.name,
    store: target.store,
    status: tally.toString(),
    seconds,
    machineMs: live.machineMs,
    ...measured,
    verdict: faultsOf(measured),
  }
}

async function runWithin (input: Input, target: Target, tally: Tally): Promise<string[]> {
  const limit = new AbortController()
  try {
    const over = delay(INPUT_LIMIT_MS, ['the input did not end'], { signal: limit.signal, ref: false }).catch(() => [])
    return [...await Promise.race([input.run(target, tally), over]) ?? []]
  } catch (error) {
    return [`the input failed: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    limit.abort()
  }
}

/** Waits until the descriptors and files of the input are closed and removed, or the time is over. */
async function settle (
  target: Target, before: { descriptors: number, files: number },
): Promise<{ descriptorsLeft: number, filesLeft: number }> {
  const left = () => ({
    descriptorsLeft: Math.max(0, target.descriptors() - before.descriptors),
    filesLeft: Math.max(0, target.files() - before.files),
  })
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline;) {
    const { descriptorsLeft, filesLeft } = left()
    if (!target.alive() || (descriptorsLeft === 0 && filesLeft === 0)) break
    await delay(100)
  }
  return left()
}
