import type { Result } from './measure.js'

const HEAD = ['input', 'store', 'status', 'seconds', 'worst block ms', 'new connection ms', 'peak MB', 'verdict']

/** One row a result; Markdown, which is readable as it stands. */
export function formatResults (results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.input,
    result.store,
    result.status,
    result.seconds.toFixed(1),
    result.worstMs.toFixed(0),
    result.freshWorstMs.toFixed(0),
    result.peakMb === null ? '?' : result.peakMb.toFixed(0),
    result.verdict.length === 0 ? 'ok' : `FAILED: ${result.verdict.join('; ')}`,
  ])
  return [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The line that is printed when an input is through. */
export function formatProgress (result: Result): string {
  const verdict = result.verdict.length === 0 ? 'ok' : `FAILED: ${result.verdict.join('; ')}`
  const runs = result.runs > 1 ? `, run ${result.runs} times` : ''
  return `${result.store} ${result.input}: ${result.status}, ${result.seconds.toFixed(1)} s, worst block ${result.worstMs.toFixed(0)} ms (machine ${result.machineMs.toFixed(0)} ms), ${result.peakMb?.toFixed(0) ?? '?'} MB${runs}: ${verdict}`
}
