import type { Load } from './load.js'
import type { Overhead } from './overhead.js'

export interface Target {
  what: string
  measured: number | null
  max: number
  /** null when it was not measured. */
  met: boolean | null
}

const MAX_GROWTH = 1.2
const MAX_LATENESS_MS = 250
const MAX_LIVE_MS = 50
const MAX_OVERHEAD_MS = 10

/** The targets of reflect under load, and the measured values. Parts of the bench that did not run have no line. */
export function targetsOf (loads: readonly Load[], overheads: readonly Overhead[]): Target[] {
  return [
    ...loads.flatMap((load) => {
      const name = loadName(load)
      const [first, last] = [load.waves[0], load.waves.at(-1)]
      return [
        atMost(
          `${name}: memory at its peak, last wave over first`, ratio(last?.rss_peak_mb, first?.rss_peak_mb), MAX_GROWTH,
        ),
        atMost(
          `${name}: heap in use afterwards, last wave over first`, ratio(last?.after.heap_mb, first?.after.heap_mb),
          MAX_GROWTH,
        ),
        atMost(
          `${name}: the latest answer after its deadline, ms`, Math.max(...load.waves.map(({ late_ms: late }) => late)),
          MAX_LATENESS_MS,
        ),
        atMost(`${name}: slowest GET /live, ms`, load.live.gateway.max, MAX_LIVE_MS),
      ]
    }),
    ...overheads.flatMap(({ mode, overhead_ms: overhead, model_calls_per_reflect: calls }) => [
      atMost(`${mode}: the gateway's overhead per reflect, p50, ms`, overhead.p50, MAX_OVERHEAD_MS),
      atMost(`${mode}: model calls per reflect`, calls, 1),
    ]),
  ]
}

export function loadName ({ mode, timeout_ms: timeoutMs }: Pick<Load, 'mode' | 'timeout_ms'>): string {
  return `${mode}, ${timeoutMs === null ? 'enough time for all' : `${timeoutMs} ms each`}`
}

function atMost (what: string, measured: number | null, max: number): Target {
  return { what, measured, max, met: measured === null ? null : measured <= max }
}

function ratio (a: number | null | undefined, b: number | null | undefined): number | null {
  return typeof a === 'number' && typeof b === 'number' ? a / b : null
}
