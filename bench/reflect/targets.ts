import type { Load } from './load.js'
import type { Share } from './share.js'

export interface Target {
  what: string
  measured: number | null
  most: number
  /** null when it was not measured. */
  met: boolean | null
}

const MOST_GROWTH = 1.2
const MOST_LATE_MS = 250
const MOST_LIVE_MS = 50
const MOST_SHARE_MS = 10

/** The targets of reflect under load, and the measured values. Parts of the bench that did not run have no line. */
export function targetsOf (loads: readonly Load[], shares: readonly Share[]): Target[] {
  return [
    ...loads.flatMap((load) => {
      const name = loadName(load)
      const [first, last] = [load.waves[0], load.waves.at(-1)]
      return [
        atMost(`${name}: memory at its peak, last wave over first`, ratio(last?.rss_peak_mb, first?.rss_peak_mb), MOST_GROWTH),
        atMost(`${name}: heap in use afterwards, last wave over first`, ratio(last?.after.heap_mb, first?.after.heap_mb), MOST_GROWTH),
        atMost(`${name}: the latest answer after its time was over, ms`, Math.max(...load.waves.map(({ late_ms: late }) => late)), MOST_LATE_MS),
        atMost(`${name}: GET /live at most, ms`, load.live.gateway.max, MOST_LIVE_MS),
      ]
    }),
    ...shares.flatMap(({ mode, share_ms: share, model_calls_per_reflect: calls }) => [
      atMost(`${mode}: the gateway's share of one reflect, p50, ms`, share.p50, MOST_SHARE_MS),
      atMost(`${mode}: calls of the model for one reflect`, calls, 1),
    ]),
  ]
}

export function loadName ({ mode, timeout_ms: timeoutMs }: Pick<Load, 'mode' | 'timeout_ms'>): string {
  return `${mode}, ${timeoutMs === null ? 'time for all' : `${timeoutMs} ms each`}`
}

function atMost (what: string, measured: number | null, most: number): Target {
  return { what, measured, most, met: measured === null ? null : measured <= most }
}

function ratio (a: number | null | undefined, b: number | null | undefined): number | null {
  return typeof a === 'number' && typeof b === 'number' ? a / b : null
}
