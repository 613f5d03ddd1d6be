import type { BaselineResult } from './baseline.js'
import type { CellResult } from './cell.js'
import type { RecallResult } from './recall.js'

/** Processor time per search of the big bank in plain full text search, measured before the store existed. */
const PLAIN_CPU_MS = 28.7

export interface Target {
  what: string
  measured: number | null
  max?: number
  min?: number
  /** null when it was not measured. */
  met: boolean | null
}

export interface Measured {
  cells: readonly CellResult[]
  recall: readonly RecallResult[]
  baseline: readonly BaselineResult[]
}

/** The targets of the store, and the measured values. Parts of the bench that did not run have no line. */
export function targetsOf ({ cells, recall, baseline }: Measured): Target[] {
  const hybrid = (banks: string) => cells.find((cell) => (
    cell.banks === banks && cell.strategy === 'hybrid' && cell.connections === 1
  ))
  const [small, big, many] = [hybrid('small'), hybrid('big'), hybrid('many')]
  const targets: Target[] = []
  if (small !== undefined) {
    targets.push(atMost(
      'small bank, hybrid: p50 over the raw statement\'s, ms', difference(small.p50_ms, small.raw_p50_ms), 3,
    ))
    targets.push(atMost('small bank, hybrid: CPU in the database, ms', small.database_cpu_ms, 1.5))
  }
  if (big !== undefined) {
    targets.push(atMost(
      `big bank, hybrid: CPU in the database, ms (half of ${PLAIN_CPU_MS})`, big.database_cpu_ms, PLAIN_CPU_MS / 2,
    ))
    for (const plain of baseline) {
      targets.push(atMost(
        `big bank, hybrid: CPU, of that of plain ${plain.rank} in this run`,
        ratio(big.database_cpu_ms, plain.database_cpu_ms), 0.5,
      ))
    }
  }
  for (const { filter, recall_at_10: found } of recall) {
    targets.push(atLeast(`big bank, vector: recall@10, filter: ${filter}`, found, 0.97))
  }
  if (small !== undefined && many !== undefined) {
    targets.push(atMost(
      'small bank, hybrid: p50 at 10,000 banks, of that at first', ratio(many.p50_ms, small.p50_ms), 1.3,
    ))
    targets.push(atMost(
      'small bank, hybrid: CPU at 10,000 banks, of that at first', ratio(many.database_cpu_ms, small.database_cpu_ms),
      1.3,
    ))
  }
  return targets
}

function atMost (what: string, measured: number | null, max: number): Target {
  return { what, measured, max, met: measured === null ? null : measured <= max }
}

function atLeast (what: string, measured: number | null, min: number): Target {
  return { what, measured, min, met: measured === null ? null : measured >= min }
}

function difference (a: number, b: number | null): number | null {
  return b === null ? null : a - b
}

function ratio (a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a / b
}
