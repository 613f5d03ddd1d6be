import { formatTable } from '../table.js'
import type { BaselineResult } from './baseline.js'
import type { CellResult } from './cell.js'
import type { IngestResult } from './ingest.js'
import type { RecallResult } from './recall.js'
import type { Size } from './sizes.js'
import type { Target } from './targets.js'

export interface Report {
  bench: 'store'
  database: string
  /** Memories before banks are added: those of the big bank and those in banks of 100. */
  memories: number
  /** Memories of each of the banks that are added for 10,000 of them. */
  added_bank_size: number
  dimensions: number
  node: string
  cores: number
  /** Load average over one minute: values near or above the number of cores invalidate absolute figures. */
  load_average: { before: number, after: number }
  ingest: IngestResult[]
  /** Build time of the big bank's vector index; null when none was built. */
  index_build_seconds: number | null
  cells: CellResult[]
  recall: RecallResult[]
  baseline: BaselineResult[]
  sizes: Size[]
  targets: Target[]
}

/** The report for people. */
export function formatReport (report: Report): string {
  const { database, memories, added_bank_size: added, dimensions, node, cores, load_average: load, cells, ingest } =
    report
  const parts = [
    `${database}, ${memories} memories of ${dimensions} dimensions, Node ${node}, ${cores} cores, load ` +
      `${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after`,
    formatTable([
      ['ingest', 'memories', 'batch', 'memories/s', 'p50 ms', 'CPU ms, database', 'CPU ms, gateway'],
      ...ingest.map((row) => [
        row.what, String(row.memories), String(row.batch), row.memories_per_second.toFixed(0), ms(row.p50_ms),
        ms(row.database_cpu_ms), ms(row.gateway_cpu_ms),
      ]),
    ]),
  ]
  if (report.index_build_seconds !== null) {
    parts.push(`vector index of the big bank: built in ${report.index_build_seconds.toFixed(1)} s`)
  }
  if (cells.length > 0) {
    parts.push(formatTable([
      ['search', 'connections', 'p50 ms', 'p95 ms', 'raw p50', 'CPU ms, database', 'raw', 'CPU ms, gateway', 'found'],
      ...cells.map((cell) => [
        `${cell.banks}, ${cell.strategy}`, String(cell.connections), ms(cell.p50_ms), ms(cell.p95_ms),
        ms(cell.raw_p50_ms),
        ms(cell.database_cpu_ms), ms(cell.raw_cpu_ms), ms(cell.gateway_cpu_ms), cell.found.toFixed(0),
      ]),
    ]))
  }
  if (cells.some(({ banks }) => banks === 'many')) {
    parts.push(`many: the banks of 100 once there are 10,000 small banks, the added ones of ${added} ` +
      `memories${added < 100 ? ' (100 with --full)' : ''}`)
  }
  if (report.baseline.length > 0) {
    parts.push(formatTable([
      ['plain full text search, hybrid', 'p50 ms', 'CPU ms, database'],
      ...report.baseline.map((row) => [row.rank, ms(row.p50_ms), ms(row.database_cpu_ms)]),
    ]))
  }
  if (report.recall.length > 0) {
    parts.push(formatTable([
      ['vector index, filter', 'queries', 'recall@10', 'recall@100'],
      ...report.recall.map(
        (row) => [row.filter, String(row.queries), row.recall_at_10.toFixed(3), row.recall_at_100.toFixed(3)],
      ),
    ]))
  }
  parts.push(formatTable([['size', 'MB'], ...report.sizes.map(({ name, bytes }) => [name, (bytes / 1e6).toFixed(1)])]))
  parts.push(formatTable([
    ['target', 'measured', 'wanted', ''],
    ...report.targets.map(({ what, measured, max, min, met }) => [
      what, measured === null ? 'n/a' : measured.toFixed(3), max === undefined ? `>= ${min}` : `<= ${max}`,
      met === null ? 'n/a' : met ? 'ok' : 'not met',
    ]),
  ]))
  return parts.join('\n\n')
}

function ms (value: number | null): string {
  return value === null ? 'n/a' : value.toFixed(2)
}
