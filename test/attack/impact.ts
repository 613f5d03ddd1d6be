import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Type, type Static } from 'typebox'
import { checker } from '../../bench/checker.js'
import { bankOfSize } from '../../bench/http/workloads.js'
import { Child } from './child.js'
import { sendOk, Tally } from './client.js'
import { configurationOf, type Input } from './inputs/input.js'
import { startTarget, type TargetOptions } from './target.js'

const CLIENTS = 500
const BANK = 'user-ada'
const CLIENT_PRINCIPAL = 'user:ada'
const MEMORIES = 1000
const QUERIES = 200
const SECONDS = 8
/** An attack that ends early is repeated until the time is over; one that takes longer may continue for this time. */
const TIME_LIMIT_MS = 60_000
/** The maximum p99 of the legitimate clients during the attack, as a multiple of their p99 without it. */
const MAX_P99_FACTOR = 3
/** A smaller p99 counts as this one, because the ratio would be noise of the machine. */
const MIN_P99_MS = 10
const REFUSED_SHARE = 0.01

const Figures = Type.Object({
  answers: Type.Integer(), refused: Type.Integer(), p50: Type.Number(), p99: Type.Number(), max: Type.Number(),
})
const checkFigures = checker(Figures, 'the figures of the legitimate clients')

/** The latency of legitimate clients without and with an attack. */
export interface Impact {
  input: string
  store: string
  status: string
  without: Static<typeof Figures>
  with: Static<typeof Figures>
  ratio: number
  verdict: string[]
}

export async function measureImpact (input: Input, options: TargetOptions): Promise<Impact> {
  const target = await startTarget({ ...options, configuration: await configurationOf(input) })
  let clients: Child | undefined
  try {
    // The server gets priority over other programs of the machine.
    for (const thread of threadsOf(target.pid)) priority(-10, thread)
    const { texts } = bankOfSize(MEMORIES)
    const items = texts.map(({ text }) => ({ content: text }))
    await sendOk(target, {
      path: '/v1/retain/batch', principal: CLIENT_PRINCIPAL, body: JSON.stringify({ bank_id: BANK, items }),
    })
    await input.prepare?.(target)
    const queries = texts.slice(0, QUERIES).map(({ telling }) => telling.slice(0, 4).join(' '))
    clients = new Child('legitimate-clients.ts', [
      String(target.port), String(target.pid), String(CLIENTS), BANK, CLIENT_PRINCIPAL, JSON.stringify(queries),
    ])
    await clients.nextMessage()
    await clients.ask('begin')
    await delay(SECONDS * 1000)
    const without = checkFigures(await clients.ask('end'))
    // From here on this process attacks, and must not take processor time from the server and the legitimate clients.
    priority(10)
    const tally = new Tally()
    await clients.ask('begin')
    const until = Date.now() + SECONDS * 1000
    const attacking = attackUntil(until, async () => { await input.run(target, tally) })
    await Promise.race([attacking, delay(TIME_LIMIT_MS, undefined, { ref: false })])
    const beside = checkFigures(await clients.ask('end'))
    return {
      input: input.name,
      store: target.store,
      status: tally.toString(),
      without,
      with: beside,
      ratio: beside.p99 / without.p99,
      verdict: impactFaults(without, beside, target.alive()),
    }
  } finally {
    priority(0)
    await clients?.stop()
    await target.stop()
  }
}

async function attackUntil (until: number, run: () => Promise<void>): Promise<void> {
  // A process that died ends the attack, too.
  do await run().catch(() => {}); while (Date.now() < until)
}

export function impactFaults (
  without: Static<typeof Figures>, beside: Static<typeof Figures>, alive: boolean,
): string[] {
  const faults = alive ? [] : ['the process died']
  if (beside.answers === 0) faults.push('no request was answered')
  else if (beside.p99 > MAX_P99_FACTOR *
    Math.max(MIN_P99_MS, without.p99)) faults.push(`p99 ${(beside.p99 / without.p99).toFixed(1)} times`)
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

/** Sets a scheduling priority; lower numbers come first. Without the right to do so it changes nothing. */
function priority (value: number, pid = process.pid): void {
  try { setPriority(pid, value) } catch { /* It needs more rights, see above. */ }
}
