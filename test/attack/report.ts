import type { Impact } from './impact.js'
import type { Result } from './measure.js'
import type { Soak } from './soak.js'
import type { Sample } from './verdict.js'

const HEAD = ['input', 'store', 'status', 'seconds', 'worst block ms', 'new connection ms', 'peak MB', 'verdict']

/** One row a result; Markdown, which is also readable as plain text. */
export function formatResults (results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.input,
    result.store,
    result.status,
    result.seconds.toFixed(1),
    result.worstMs.toFixed(0),
    result.newConnectionWorstMs.toFixed(0),
    peakOf(result),
    verdictOf(result.verdict),
  ])
  return markdown([HEAD, ...rows])
}

export function formatImpacts (results: readonly Impact[]): string {
  const head = [
    'input', 'store', 'status', 'p50 ms without', 'with', 'p99 ms without', 'with', 'ratio of p99', 'answers a run',
    'refused', 'verdict',
  ]
  return markdown([head, ...results.map((result) => [
    result.input,
    result.store,
    result.status,
    result.without.p50.toFixed(1),
    result.with.p50.toFixed(1),
    result.without.p99.toFixed(1),
    result.with.p99.toFixed(1),
    result.ratio.toFixed(1),
    `${result.without.answers}, ${result.with.answers}`,
    String(result.with.refused),
    verdictOf(result.verdict),
  ])])
}

export function formatSoaks (results: readonly Soak[]): string {
  const head = [
    'store', 'minutes', 'inputs', 'first round minutes', 'MiB a minute, resident', 'least and most MiB',
    'kept after collection', 'first and last MiB', 'in use after collection', 'first and last MiB',
    'descriptors before, after', 'files before, after', 'verdict',
  ]
  return markdown([head, ...results.map((result) => {
    const resident = result.samples.map(({ mib }) => mib)
    return [
      result.store,
      String(result.minutes),
      String(result.turns),
      result.warm.toFixed(1),
      result.slopeMibAMinute.toFixed(2),
      `${Math.min(...resident).toFixed(0)}, ${Math.max(...resident).toFixed(0)}`,
      result.keptMibAMinute.toFixed(2),
      firstAndLast(result.kept),
      result.usedMibAMinute.toFixed(2),
      firstAndLast(result.used),
      `${result.descriptors.before}, ${result.descriptors.after}`,
      `${result.files.before}, ${result.files.after}`,
      verdictOf(result.verdict),
    ]
  })])
}

const firstAndLast = (samples: readonly Sample[]) => (
  [samples[0], samples.at(-1)].map((sample) => sample?.mib.toFixed(1) ?? '?').join(', ')
)

/** The maximum resident memory, and the part that the input added where the database has much of it. */
function peakOf ({ peakMb, idleMb }: Result): string {
  if (peakMb === null) return '?'
  return idleMb === null ? peakMb.toFixed(0) : `${peakMb.toFixed(0)} (${(peakMb - idleMb).toFixed(0)} added)`
}

const verdictOf = (faults: readonly string[]) => faults.length === 0 ? 'ok' : `FAILED: ${faults.join('; ')}`

function markdown ([head = [], ...rows]: ReadonlyArray<readonly string[]>): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The line that is printed when an input is through. */
export function formatProgress (result: Result): string {
  const runs = result.runs > 1 ? `, run ${result.runs} times` : ''
  return `${result.store} ${result.input}: ${result.status}, ${result.seconds.toFixed(1)} s, worst block ` +
    `${result.worstMs.toFixed(0)} ms (machine ${result.machineMs.toFixed(0)} ms), ${peakOf(result)} MB${runs}: ` +
    `${verdictOf(result.verdict)}`
}
