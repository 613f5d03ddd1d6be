import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Type, type Static } from 'typebox'
import { checker } from '../../bench/checker.js'
import { bankOfSize } from '../../bench/http/workloads.js'
import { Child } from './child.js'
import { must, Tally } from './client.js'
import type { Input } from './inputs/input.js'
import { startTarget, type TargetOptions } from './target.js'

const CLIENTS = 500
const BANK = 'user-ada'
const HONEST = 'user:ada'
const MEMORIES = 1000
const QUERIES = 200
const SECONDS = 8
/** An attacker who is done begins again until the time is over; one that takes longer is let go on so long. */
const LONGEST_MS = 60_000
/** What an honest client's p99 may become, as a multiple of what it is without the attacker. */
const MOST_TIMES = 3
/** Below this the ratio is the machine's noise. */
const LEAST_P99_MS = 10
const REFUSED_SHARE = 0.01

const Figures = Type.Object({
  answers: Type.Integer(), refused: Type.Integer(), p50: Type.Number(), p99: Type.Number(), max: Type.Number(),
})
const checkFigures = checker(Figures, 'what the honest clients measured')

/** Honest clients without and with an attacker beside them. */
export interface Beside {
  input: string
  store: string
  status: string
  without: Static<typeof Figures>
  with: Static<typeof Figures>
  ratio: number
  verdict: string[]
}

export async function measureBeside (input: Input, options: TargetOptions): Promise<Beside> {
  const target = await startTarget({ ...options, configuration: input.configuration ?? '' })
  let honest: Child | undefined
  try {
    // Other programs of the machine must not take it from the server either.
    for (const thread of threadsOf(target.pid)) priority(-10, thread)
    const { texts } = bankOfSize(MEMORIES)
    const items = texts.map(({ text }) => ({ content: text }))
    await must(target, { path: '/v1/retain/batch', principal: HONEST, body: JSON.stringify({ bank_id: BANK, items }) })
    await input.prepare?.(target)
    const queries = texts.slice(0, QUERIES).map(({ telling }) => telling.slice(0, 4).join(' '))
    honest = new Child('honest.ts', [String(target.port), String(target.pid), String(CLIENTS), BANK, HONEST, JSON.stringify(queries)])
    await honest.heard()
    await honest.ask('begin')
    await delay(SECONDS * 1000)
    const without = checkFigures(await honest.ask('end'))
    // From here on this process is the attacker's: it must not take the processor from those who are attacked.
    priority(10)
    const tally = new Tally()
    await honest.ask('begin')
    const until = Date.now() + SECONDS * 1000
    const attacking = attackUntil(until, async () => { await input.run(target, tally) })
    await Promise.race([attacking, delay(LONGEST_MS, undefined, { ref: false })])
    const beside = checkFigures(await honest.ask('end'))
    return {
      input: input.name,
      store: target.store,
      status: tally.toString(),
      without,
      with: beside,
      ratio: beside.p99 / without.p99,
      verdict: faultsBeside(without, beside, target.alive()),
    }
  } finally {
    priority(0)
    await honest?.stop()
    await target.stop()
  }
}

async function attackUntil (until: number, run: () => Promise<void>): Promise<void> {
  // A process that died ends the attack, too.
  do await run().catch(() => {}); while (Date.now() < until)
}

export function faultsBeside (
  without: Static<typeof Figures>, beside: Static<typeof Figures>, alive: boolean,
): string[] {
  const faults = alive ? [] : ['the process died']
  if (beside.answers === 0) faults.push('nobody was answered')
  else if (beside.p99 > MOST_TIMES * Math.max(LEAST_P99_MS, without.p99)) faults.push(`p99 ${(beside.p99 / without.p99).toFixed(1)} times`)
  if (beside.refused > REFUSED_SHARE * beside.answers) faults.push(`${beside.refused} of ${beside.answers} refused`)
  return faults
}

/**
 * On Linux a priority is a thread's own, and a garbage collection waits for the threads that help with it. None where
 * there is no /proc: the process alone.
 */
function threadsOf (pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return [pid]
  }
}

/** Lower numbers come first; only an administrator may go back to 0, and then all stays as it is. */
function priority (value: number, pid = process.pid): void {
  try { setPriority(pid, value) } catch { /* As said. */ }
}
