import { performance } from 'node:perf_hooks'
import type { ChildServer } from '../../../bench/child-server.js'
import { sendOk, send, Tally } from '../client.js'
import { warmUp, type Result } from '../measure.js'
import { Prober } from '../probes.js'
import { OWN_BANK, OWNER, startTarget, type Target, type TargetOptions } from '../target.js'
import { faultsOf, isAllowed, mayBeNoise, type Measured } from '../verdict.js'
import { fillBank } from '../texts.js'
import type { Case } from './case.js'
import { casesOf } from './cases.js'

export interface GeneratedOptions {
  seed: number
  seconds: number
  /** Only the cases whose names contain this. */
  cases?: string | undefined
}

/** The results of the cases that were run in time. */
export interface GeneratedRun {
  /** The failed cases, each with its faults, and one row for all others. */
  results: Result[]
  run: number
  cases: number
  /** The passed case with the longest time without an answer. */
  slowest: { name: string, worstMs: number } | undefined
}

const REPEATS = 2
/** The bank is filled anew after this many cases, because valid bodies store memories in it, or delete them. */
const CLEAN_EVERY = 50
/** Memories that searches find, and their characters. */
const MEMORIES = 100
const CHARACTERS = 2000
const CASE_LIMIT_MS = 60_000

/** Sends requests generated from the document of the running server, one after the other, until the time is over. */
export async function runGenerated (
  options: TargetOptions, { seed, seconds, cases: part = '' }: GeneratedOptions, idleServer: ChildServer,
): Promise<GeneratedRun> {
  const results: Result[] = []
  const total = new Tally()
  const peak = { worstMs: 0, newConnectionWorstMs: 0, machineMs: 0, peakMb: 0 }
  let live = await start(options, idleServer)
  const cases = casesOf(await documentOf(live.target), seed).filter(({ name }) => name.includes(part))
  let slowest: GeneratedRun['slowest']
  const begunAt = performance.now()
  let run = 0
  try {
    while (run < cases.length && performance.now() - begunAt < seconds * 1000) {
      let result = await measureCase(cases[run]!, live, total)
      if (result.verdict.length > 0 && live.target.alive()) {
        // What earlier cases have stored counts in the memory of the process, so that the case is judged in a new one.
        await stop(live)
        live = await start(options, idleServer)
        result = await measureCase(cases[run]!, live, total)
      }
      run += 1
      if (result.verdict.length > 0) results.push(result)
      else {
        if (result.worstMs > (slowest?.worstMs ?? 0)) slowest = { name: result.input, worstMs: result.worstMs }
        peak.worstMs = Math.max(peak.worstMs, result.worstMs)
        peak.newConnectionWorstMs = Math.max(peak.newConnectionWorstMs, result.newConnectionWorstMs)
        peak.machineMs = Math.max(peak.machineMs, result.machineMs)
        peak.peakMb = Math.max(peak.peakMb, result.peakMb ?? 0)
      }
      if (!live.target.alive()) {
        await stop(live)
        live = await start(options, idleServer)
      } else if (run % CLEAN_EVERY === 0) {
        await send(live.target, { method: 'DELETE', path: `/v1/banks/${OWN_BANK}`, principal: OWNER })
        await fillBank(live.target, OWN_BANK, MEMORIES, CHARACTERS)
      }
    }
  } finally {
    await stop(live)
  }
  const passed: Result = {
    input: `generated: ${run - results.length} of ${cases.length} (seed ${seed})`,
    store: options.store,
    status: total.toString(),
    seconds: (performance.now() - begunAt) / 1000,
    ...peak,
    idleMb: live.target.idleMb,
    alive: true,
    badAnswers: [],
    faults: [],
    descriptorsLeft: 0,
    filesLeft: 0,
    verdict: [],
    runs: 1,
  }
  return { results: [...results, passed], run, cases: cases.length, slowest }
}

interface Live {
  target: Target
  prober: Prober
}

async function start (options: TargetOptions, idleServer: ChildServer): Promise<Live> {
  const target = await startTarget(options)
  const prober = new Prober(target, idleServer)
  await warmUp(target)
  // The document is created at the first request, which another input measures.
  await documentOf(target)
  await fillBank(target, OWN_BANK, MEMORIES, CHARACTERS)
  return { target, prober }
}

async function stop ({ target, prober }: Live): Promise<void> {
  await prober.stop()
  await target.stop()
}

async function documentOf (target: Target): Promise<unknown> {
  await sendOk(target, { path: '/openapi.json' })
  return await (await fetch(`${target.url}/openapi.json`)).json()
}

/** A case that the machine's noise may have failed is repeated. */
async function measureCase ({ name, request }: Case, { target, prober }: Live, total: Tally): Promise<Result> {
  const given = request()
  for (let runs = 1; ; runs++) {
    const startedAt = performance.now()
    target.resetPeak()
    await prober.begin()
    const sent = await send(target, { ...given, limitMs: CASE_LIMIT_MS })
    const live = await prober.end()
    const measured: Measured = {
      alive: target.alive(),
      worstMs: live.worstMs,
      newConnectionWorstMs: live.newConnectionWorstMs,
      peakMb: target.peakMb(),
      idleMb: target.idleMb,
      badAnswers: isAllowed(sent.status) ? [] : [sent.status],
      faults: [],
      descriptorsLeft: 0,
      filesLeft: 0,
    }
    const verdict = faultsOf(measured)
    if (verdict.length > 0 && runs <= REPEATS && mayBeNoise(measured)) continue
    total.add(sent)
    return {
      input: name,
      store: target.store,
      status: sent.status,
      seconds: (performance.now() - startedAt) / 1000,
      machineMs: live.machineMs,
      ...measured,
      verdict,
      runs,
    }
  }
}
