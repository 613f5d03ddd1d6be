import { formatTable } from '../table.js'
import type { Load } from './load.js'
import type { Overhead } from './overhead.js'
import type { FailedPair, PairFigures } from './pairs.js'
import { loadName, type Target } from './targets.js'

export interface Report {
  bench: 'reflect'
  concurrent: number
  model_ms: number
  max_concurrency: number
  node: string
  cores: number
  /** Load average over one minute: values near or above the number of cores invalidate absolute figures. */
  load_average: { before: number, after: number }
  loads: Load[]
  overheads: Overhead[]
  pairs: PairFigures[]
  failed_pairs: FailedPair[]
  targets: Target[]
}

/** The report for people. */
export function formatReport ({
  concurrent, model_ms: modelMs, max_concurrency: maxConcurrency, node, cores, load_average: load, loads, overheads,
  pairs, targets,
}: Report): string {
  const parts = [`Node ${node}, ${cores} cores, load ${load.before.toFixed(1)} before and ` +
    `${load.after.toFixed(1)} after`]
  if (loads.length > 0) {
    parts.push(`${concurrent} reflects at the same moment, a model that takes ${modelMs} ms, at most ` +
      `${maxConcurrency} concurrent calls`)
    parts.push(formatTable([
      ['load', 'wave', 'p50 ms', 'max ms', 'late ms', 'RSS peak MB', 'RSS after MB', 'heap after MB', 'answers'],
      ...loads.flatMap((one) => [
        [loadName(one), 'before', '', '', '', '', megabytes(one.before.rss_mb), megabytes(one.before.heap_mb), ''],
        ...one.waves.map((wave, index) => [
          '', String(index + 1), whole(wave.p50_ms), whole(wave.max_ms), whole(wave.late_ms),
          megabytes(wave.rss_peak_mb), megabytes(wave.after.rss_mb), megabytes(wave.after.heap_mb),
          Object.entries(wave.outcomes).map(([outcome, count]) => `${count} × ${outcome}`).join('; '),
        ]),
      ]),
    ]))
    parts.push(formatTable([
      [
        'GET /live, ms', 'samples', 'p50', 'p99', 'max', 'of the model\'s server: p50', 'p99', 'max',
        'concurrent calls',
      ],
      ...loads.map((one) => {
        const { live: { gateway, model } } = one
        return [
          loadName(one), String(gateway.samples),
          ...[gateway, model].flatMap(({ p50, p99, max }) => [p50, p99, max].map((value) => value.toFixed(1))),
          String(one.max_concurrent_model_calls),
        ]
      }),
    ]))
  }
  if (overheads.length > 0) {
    parts.push(formatTable([
      ['one reflect, ms', 'p50', 'p95', 'p99'],
      ...overheads.flatMap(({ mode, reflect_ms: reflect, model_ms: model, overhead_ms: overhead, bare_ms: bare }) => [
        [`${mode}: reflect`, ...percentiles(reflect)],
        ['  time in the model', ...percentiles(model)],
        ['  overhead of the gateway', ...percentiles(overhead)],
        ['  the model without the gateway', ...percentiles(bare)],
      ]),
    ]))
  }
  if (pairs.length > 0) {
    parts.push(formatTable([
      [
        'pairs of statements', 'told by', '', 'later one in the evidence', 'both in the evidence',
        'the replaced one in the evidence', 'the standing one cited first',
      ],
      ...pairs.map((one) => [
        one.embeddings, one.told, one.group, `${one.later_in_evidence} of ${one.pairs}`,
        `${one.both_in_evidence} of ${one.pairs}`,
        one.replaced === 0 ? '–' : `${one.stale_in_evidence} of ${one.replaced}`,
        one.replaced === 0 ? '–' : `${one.standing_first} of ${one.replaced}`,
      ]),
    ]))
  }
  parts.push(formatTable([
    ['target', 'measured', 'at most', ''],
    ...targets.map(({ what, measured, max, met }) => [
      what, measured === null ? '–' : measured.toFixed(2), String(max), met === null ? '–' : met ? 'ok' : 'not met',
    ]),
  ]))
  return parts.join('\n\n')
}

function percentiles ({ p50, p95, p99 }: Overhead['overhead_ms']): string[] {
  return [p50, p95, p99].map((value) => value.toFixed(2))
}

function megabytes (value: number | null): string {
  return value === null ? '–' : value.toFixed(0)
}

function whole (value: number): string {
  return value.toFixed(0)
}
