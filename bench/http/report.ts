import { formatTable } from '../table.js'
import type { CellResult, SideResult } from './cell.js'
import type { LoadToolName } from './load-tool.js'
import type { Overhead } from './overhead.js'

export interface Report {
  bench: 'http'
  tool: LoadToolName
  seconds: number
  warm_up_seconds: number
  node: string
  /** Load average over one minute: values near or above the number of cores invalidate absolute figures. */
  load_average: { before: number, after: number }
  cores: number
  cells: CellResult[]
  overhead?: Overhead
}

/** The report for people. */
export function formatReport (
  { tool, seconds, warm_up_seconds: warmUp, node, load_average: load, cores, cells, overhead }: Report,
): string {
  const parts = [
    `${tool}, ${seconds} s a cell after ${warmUp} s of warm-up, Node ${node}, ${cores} cores, load ` +
      `${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after`,
  ]
  if (cells.length > 0) {
    parts.push(formatTable([
      ['route', 'connections', 'server', 'requests/s', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU µs', 'ratio', 'CPU ratio'],
      ...cells.flatMap(({ route, connections, gateway, bare, ratio, cpu_ratio: cpuRatio }) => [
        [
          route, String(connections), 'gateway', ...sideCells(gateway), ratio.toFixed(3),
          cpuRatio === null ? '–' : cpuRatio.toFixed(3),
        ],
        ['', '', 'bare', ...sideCells(bare), '', ''],
      ]),
    ]))
  }
  if (overhead !== undefined) {
    const { calls, http_ms: http, direct_ms: direct, overhead_ms: difference } = overhead
    parts.push(formatTable([
      [`overhead, ms (${calls} recalls)`, 'p50', 'p99'],
      ['over HTTP', milliseconds(http.p50), milliseconds(http.p99)],
      ['direct call', milliseconds(direct.p50), milliseconds(direct.p99)],
      ['difference', milliseconds(difference.p50), milliseconds(difference.p99)],
    ]))
  }
  return parts.join('\n\n')
}

function sideCells (
  { requests_per_second: rate, p50_ms: p50, p95_ms: p95, p99_ms: p99, cpu_us_per_request: cpu }: SideResult,
): string[] {
  return [
    Math.round(rate).toString(), milliseconds(p50), milliseconds(p95), milliseconds(p99),
    cpu === null ? '–' : Math.round(cpu).toString(),
  ]
}

function milliseconds (value: number): string {
  return value.toFixed(2)
}
