import { setTimeout as delay } from 'node:timers/promises'
import { memoryAfterGc } from '../../bench/memory-after-gc.js'
import { seededRandom } from '../../bench/http/vocabulary.js'
import { send, Tally } from './client.js'
import type { Input } from './inputs/input.js'
import { warmUp } from './measure.js'
import { OWN_BANK, OWNER, startTarget, type Target, type TargetOptions } from './target.js'
import { MAX_EXTRA_DESCRIPTORS, MAX_GROWTH_MIB_PER_MINUTE, slopeOfLastTwoThirds, type Sample } from './verdict.js'

/** As short as the inputs have them, for all of them together. */
const CONFIGURATION = 'bounds: { stalled_seconds: 5, request_seconds: 10 }\n'
const MINUTE_MS = 60_000
const MEBIBYTE = 1_048_576
const MIB_A_MB = 1e6 / MEBIBYTE
/** After each input and what is deleted after it. */
const IDLE_MS = 1000
/** A full garbage collection is not part of the soak test, so it is done rarely. */
const COLLECT_EVERY = 5
/** After the last input, until files and descriptors are counted. */
const SETTLE_MS = 15_000

export interface Soak {
  store: string
  minutes: number
  turns: number
  /** The minute in which every input had run once. */
  warm: number
  /** Of what is resident while nothing is done. It is not judged: garbage that is not collected yet is a part of it. */
  slopeMibAMinute: number
  /** Of what stays resident after a full collection. */
  keptMibAMinute: number
  /** Of what is in use after it: the heap, and buffers outside of it. */
  usedMibAMinute: number
  descriptors: { before: number, after: number }
  files: { before: number, after: number }
  samples: Sample[]
  kept: Sample[]
  used: Sample[]
  verdict: string[]
}

/** The inputs take turns on one server, in another order each round; what they leave in banks is deleted. */
export async function soak (
  inputs: readonly Input[], minutes: number, seed: number, options: TargetOptions, tell: (line: string) => void,
): Promise<Soak> {
  const target = await startTarget({ ...options, configuration: CONFIGURATION, collects: true })
  const samples: Sample[] = []
  const kept: Sample[] = []
  const used: Sample[] = []
  const startedAt = Date.now()
  const minute = () => (Date.now() - startedAt) / MINUTE_MS
  const random = seededRandom(seed)
  const faults: string[] = []
  let turns = 0
  let round: Input[] = []
  /** When the first round was over; with a run that is shorter nothing was warm. */
  let warm: number | undefined
  const collect = async () => {
    const told = await memoryAfterGc(target.collector)
    if (told === undefined) return
    kept.push({ minute: minute(), mib: told.rss / MEBIBYTE })
    used.push({ minute: minute(), mib: (told.heapUsed + told.external) / MEBIBYTE })
  }
  try {
    await warmUp(target)
    await collect()
    if (kept.length === 0) throw new Error('The gateway does not tell what it uses after a collection of garbage')
    const before = { descriptors: target.descriptors(), files: target.files() }
    while (minute() < minutes && target.alive()) {
      if (round.length === 0 && turns > 0) warm ??= minute()
      if (round.length === 0) {
        round = inputs.map((input) => ({ input, at: random() })).sort((a, b) => a.at - b.at).map(({ input }) => input)
      }
      const input = round.pop()!
      const status = await attack(input, target, faults)
      await deleteBanks(target)
      await delay(IDLE_MS)
      turns += 1
      const mb = target.residentMb()
      if (mb !== null) samples.push({ minute: minute(), mib: mb * MIB_A_MB })
      const isCollected = turns % COLLECT_EVERY === 0
      if (isCollected) await collect()
      // Of the turns between two collections nothing else is known.
      const collected = isCollected
        ? `${kept.at(-1)!.mib.toFixed(0)} MiB and ${used.at(-1)!.mib.toFixed(1)} in use after collection, `
        : ''
      tell(`${minute().toFixed(1)} min ${input.name}: ${status}, ${mb?.toFixed(0) ?? '?'} MB, ` +
        `${collected}${target.descriptors()} descriptors, ${target.files()} files`)
    }
    await delay(SETTLE_MS)
    const after = { descriptors: target.descriptors(), files: target.files() }
    const slopes = {
      slopeMibAMinute: slopeOfLastTwoThirds(samples, warm),
      keptMibAMinute: slopeOfLastTwoThirds(kept, warm),
      usedMibAMinute: slopeOfLastTwoThirds(used, warm),
    }
    const grows = (what: string, slope: number) => (
      slope > MAX_GROWTH_MIB_PER_MINUTE ? [`${what} grows by ${slope.toFixed(2)} MiB a minute`] : []
    )
    return {
      store: target.store,
      minutes,
      turns,
      warm: warm ?? minutes,
      ...slopes,
      descriptors: { before: before.descriptors, after: after.descriptors },
      files: { before: before.files, after: after.files },
      samples,
      kept,
      used,
      verdict: [
        ...(target.alive() ? [] : ['the process died']),
        ...new Set(faults),
        ...grows('resident memory', slopes.keptMibAMinute),
        ...grows('memory in use', slopes.usedMibAMinute),
        ...(after.descriptors - before.descriptors > MAX_EXTRA_DESCRIPTORS
          ? [`${after.descriptors - before.descriptors} descriptors left`]
          : []),
        ...(after.files > before.files ? [`${after.files - before.files} files left`] : []),
      ],
    }
  } finally {
    await target.stop()
  }
}

/** @returns its statuses */
async function attack (input: Input, target: Target, faults: string[]): Promise<string> {
  const tally = new Tally()
  try {
    await input.prepare?.(target)
    faults.push(...(await input.run(target, tally) ?? []).map((fault) => `${input.name}: ${fault}`))
  } catch (error) {
    faults.push(`${input.name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return tally.toString()
}

/** In dev mode an anonymous caller may delete every bank. */
async function deleteBanks (target: Target): Promise<void> {
  await send(target, { method: 'DELETE', path: `/v1/banks/${OWN_BANK}`, principal: OWNER })
  for (;;) {
    const { status, text } = await send(target, { path: '/v1/banks?limit=20', principal: null })
    const banks = [...text.matchAll(/"bank_id":"([^"]+)"/g)].map(([, bank]) => bank!)
    if (status !== '200' || banks.length === 0) return
    const deleted = await Promise.all(banks.map(async (bank) => (
      await send(target, { method: 'DELETE', path: `/v1/banks/${bank}`, principal: null })
    )))
    // A bank that cannot be deleted would be requested forever.
    if (deleted.some((sent) => !sent.status.startsWith('2'))) return
  }
}
