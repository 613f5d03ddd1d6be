import { fileURLToPath } from 'node:url'
import { Type, type Static } from 'typebox'
import { checker } from '../../bench/checker.js'
import { startChild, type ChildServer } from '../../bench/child-server.js'
import { Child } from './child.js'
import { serverWait } from './verdict.js'

const CONTROL = fileURLToPath(new URL('idle-server.ts', import.meta.url))

const Probed = Type.Object({
  waits: Type.Array(Type.Object({ from: Type.Number(), to: Type.Number(), queuedMs: Type.Number() })),
  answers: Type.Integer(),
  failures: Type.Integer(),
  longest: Type.Number(),
})
const checkProbed = checker(Type.Array(Probed, { minItems: 3, maxItems: 3 }), 'what the prober measured')

/** What probes say of a time. */
export interface Liveness {
  answers: number
  /** Probes that were refused or whose connection was closed. */
  failures: number
  /** The longest waits, on the kept connection and on new ones, without the machine's share. */
  worstMs: number
  newConnectionWorstMs: number
  /** The longest wait for the idle server: the machine's noise. */
  machineMs: number
}

/** The idle server, one for all targets. */
export async function startIdleServer (): Promise<ChildServer> {
  return await startChild(
    ['--import', 'tsx', CONTROL], 'PORT', process.env['PATH'] === undefined ? {} : { PATH: process.env['PATH'] },
  )
}

/** Probes one target from a process of its own. */
export class Prober {
  readonly #child: Child

  constructor (target: { url: string, pid: number }, idleServer: { url: string }) {
    this.#child = new Child('prober.ts', [
      ...[target, idleServer].map(({ url }) => new URL(url).port), String(target.pid),
    ])
  }

  async begin (): Promise<void> {
    await this.#child.ask('begin')
  }

  async end (): Promise<Liveness> {
    const [kept, fresh, idle] = checkProbed(await this.#child.ask('end')) as [
      Static<typeof Probed>, Static<typeof Probed>, Static<typeof Probed>,
    ]
    const worst = (waits: typeof kept.waits, longest: number) =>
      waits.length === 0 ? longest : Math.max(...waits.map((wait) => serverWait(wait, idle.waits)))
    return {
      answers: kept.answers,
      failures: kept.failures + fresh.failures,
      worstMs: worst(kept.waits, kept.longest),
      newConnectionWorstMs: worst(fresh.waits, fresh.longest),
      machineMs: idle.longest,
    }
  }

  async stop (): Promise<void> {
    await this.#child.stop()
  }
}
