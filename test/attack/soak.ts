import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../bench/http/vocabulary.js'
import { send, Tally } from './client.js'
import type { Input } from './inputs/input.js'
import { warmUp } from './measure.js'
import { OWN_BANK, OWNER, startTarget, type Target, type TargetOptions } from './target.js'
import { DESCRIPTORS_SPARED, MOST_MIB_A_MINUTE, slopeOfLastTwoThirds, type Sample } from './verdict.js'

/** As short as the inputs have them, for all of them together. */
const CONFIGURATION = 'bounds: { stalled_seconds: 5, request_seconds: 10 }\n'
const SAMPLE_MS = 2000
const MINUTE_MS = 60_000
const MIB_A_MB = 1e6 / 1_048_576
/** After the last input, until files and descriptors are counted. */
const SETTLE_MS = 15_000

export interface Soak {
  store: string
  minutes: number
  turns: number
  slopeMibAMinute: number
  descriptors: { before: number, after: number }
  files: { before: number, after: number }
  samples: Sample[]
  verdict: string[]
}

/** The inputs take turns on one server, in another order each round; what they leave in banks is deleted. */
export async function soak (inputs: readonly Input[], minutes: number, seed: number, options: TargetOptions, tell: (line: string) => void): Promise<Soak> {
  const target = await startTarget({ ...options, configuration: CONFIGURATION })
  const samples: Sample[] = []
  const startedAt = Date.now()
  const sample = () => {
    const mb = target.residentMb()
    if (mb !== null) samples.push({ minute: (Date.now() - startedAt) / MINUTE_MS, mib: mb * MIB_A_MB })
  }
  const timer = setInterval(sample, SAMPLE_MS)
  try {
    await warmUp(target)
    const before = { descriptors: target.descriptors(), files: target.files() }
    const random = seededRandom(seed)
    const faults: string[] = []
    let turns = 0
    let round: Input[] = []
    while (Date.now() - startedAt < minutes * MINUTE_MS && target.alive()) {
      if (round.length === 0) round = inputs.map((input) => ({ input, at: random() })).sort((a, b) => a.at - b.at).map(({ input }) => input)
      const input = round.pop()!
      const tally = new Tally()
      try {
        await input.prepare?.(target)
        faults.push(...(await input.run(target, tally) ?? []).map((fault) => `${input.name}: ${fault}`))
      } catch (error) {
        faults.push(`${input.name}: ${error instanceof Error ? error.message : String(error)}`)
      }
      turns += 1
      tell(`${((Date.now() - startedAt) / MINUTE_MS).toFixed(1)} min ${input.name}: ${tally.toString()}, ${target.residentMb()?.toFixed(0) ?? '?'} MB, ${target.descriptors()} descriptors, ${target.files()} files`)
      await deleteBanks(target)
    }
    clearInterval(timer)
    sample()
    await delay(SETTLE_MS)
    const after = { descriptors: target.descriptors(), files: target.files() }
    const slope = slopeOfLastTwoThirds(samples)
    return {
      store: target.store,
      minutes,
      turns,
      slopeMibAMinute: slope,
      descriptors: { before: before.descriptors, after: after.descriptors },
      files: { before: before.files, after: after.files },
      samples,
      verdict: [
        ...(target.alive() ? [] : ['the process died']),
        ...new Set(faults),
        ...(slope > MOST_MIB_A_MINUTE ? [`memory grows by ${slope.toFixed(2)} MiB a minute`] : []),
        ...(after.descriptors - before.descriptors > DESCRIPTORS_SPARED ? [`${after.descriptors - before.descriptors} descriptors left`] : []),
        ...(after.files > before.files ? [`${after.files - before.files} files left`] : []),
      ],
    }
  } finally {
    clearInterval(timer)
    await target.stop()
  }
}

/** In dev mode who has no name may delete every bank. */
async function deleteBanks (target: Target): Promise<void> {
  await send(target, { method: 'DELETE', path: `/v1/banks/${OWN_BANK}`, principal: OWNER })
  for (;;) {
    const { status, text } = await send(target, { path: '/v1/banks?limit=20', principal: null })
    const banks = [...text.matchAll(/"bank_id":"([^"]+)"/g)].map(([, bank]) => bank!)
    if (status !== '200' || banks.length === 0) return
    const deleted = await Promise.all(banks.map(async (bank) => await send(target, { method: 'DELETE', path: `/v1/banks/${bank}`, principal: null })))
    // A bank that cannot be deleted would be asked for for ever.
    if (deleted.some((sent) => !sent.status.startsWith('2'))) return
  }
}
