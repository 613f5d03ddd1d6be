import { availableParallelism, loadavg } from 'node:os'
import { performance } from 'node:perf_hooks'
import { printReport } from '../report-output.js'
import { runBench } from '../run-bench.js'
import { buildBaseline, measureBaseline } from './baseline.js'
import { measureCell } from './cell.js'
import { emptyBank, MemorySource, searches, SPACE, STRATEGIES, type Bank } from './data.js'
import { BenchDatabase, type OpenStore } from './database.js'
import { ingest, ingestSingly } from './ingest.js'
import { readOptions, USAGE, type Options } from './options.js'
import { measureRecall } from './recall.js'
import { formatReport, type Report } from './report.js'
import { measureSizes } from './sizes.js'
import { targetsOf } from './targets.js'

const SMALL_BANK = 100
const MANY_BANKS = 10_000
/** Memories of each of the many banks; with a hundred in each there would be a million. */
const MANY_BANK = 10
/** A bank of this size gets an index in production. */
const INDEX_FROM = 20_000
const SEARCHES = 400
const WARM_UP = 100
const MAX_CONNECTIONS = 4

await runBench(async (args) => {
  const options = readOptions(args)
  const before = loadavg()[0]!
  const database = await BenchDatabase.create(options.url)
  logProgress(`schema ${database.schema}; an interrupted run does not remove it`)
  try {
    const measured = await measure(database, options)
    const report: Report = {
      bench: 'store',
      database: database.version,
      memories: options.memories,
      added_bank_size: options.full ? SMALL_BANK : MANY_BANK,
      dimensions: SPACE.dimensions,
      node: process.versions.node,
      cores: availableParallelism(),
      load_average: { before, after: loadavg()[0]! },
      ...measured,
      targets: targetsOf(measured),
    }
    await printReport(report, formatReport, options.json)
  } finally {
    await database.close(options)
  }
}, USAGE)

type Measurements = Pick<Report, 'ingest' | 'index_build_seconds' | 'cells' | 'recall' | 'baseline' | 'sizes'>

async function measure (database: BenchDatabase, { memories, parts, full, baseline }: Options): Promise<Measurements> {
  const indexFrom = Math.min(INDEX_FROM, memories / 2)
  const single = await database.open(1, indexFrom)
  const pooled = await database.open(MAX_CONNECTIONS, indexFrom)
  const source = new MemorySource(2)
  const [big, small] = [emptyBank('big'), banksNamed('small', parts.has('small') ? memories / 2 / SMALL_BANK : 0)]
  const measured: Measurements = {
    ingest: [], index_build_seconds: null, cells: [], recall: [], baseline: [], sizes: [],
  }

  logProgress('ingest')
  // The big bank comes first, so that the small ones are added to tables that are not empty.
  if (parts.has('big')) {
    measured.ingest.push(await ingest(database, single, source, 'the big bank', [big], memories / 2))
  }
  if (parts.has('small')) {
    measured.ingest.push(await ingest(database, single, source, 'banks of 100', small, SMALL_BANK))
  }
  measured.ingest.push(await ingestSingly(database, single, source, 'one by one, a small bank'))
  if (parts.has('big')) {
    logProgress('the index of the big bank')
    measured.index_build_seconds = await buildIndexes(single, pooled)
  }
  await database.settle()

  if (parts.has('small')) measured.cells.push(...await measureBanks(database, single, pooled, 'small', small))
  if (parts.has('big')) {
    measured.cells.push(...await measureBanks(database, single, pooled, 'big', [big]))
    logProgress('recall of the index')
    measured.recall.push(...await measureRecall(database, single, big))
  }
  measured.sizes = await measureSizes(database)
  if (baseline) {
    logProgress('plain full text search')
    await buildBaseline(database, big)
    measured.baseline.push(...await measureBaseline(database, searches([big], 'hybrid', WARM_UP + SEARCHES), WARM_UP))
  }
  if (parts.has('big')) {
    measured.ingest.push(await ingestSingly(database, single, source, 'one by one, the big bank with its index', big))
  }
  if (parts.has('many')) {
    logProgress('many banks')
    const size = full ? SMALL_BANK : MANY_BANK
    const added = banksNamed('many', MANY_BANKS - small.length)
    measured.ingest.push(await ingest(database, single, source, `many banks of ${size}`, added, size))
    await database.settle()
    measured.cells.push(...await measureBanks(database, single, pooled, 'many', small))
  }
  return measured
}

async function measureBanks (
  database: BenchDatabase, single: OpenStore, pooled: OpenStore, name: string, banks: readonly Bank[],
): Promise<Report['cells']> {
  const cells: Report['cells'] = []
  for (const strategy of STRATEGIES) {
    const requests = searches(banks, strategy, WARM_UP + SEARCHES)
    for (const [open, connections] of [[single, 1], [pooled, MAX_CONNECTIONS]] as const) {
      logProgress(`${name} ${strategy}, connections: ${connections}`)
      cells.push(await measureCell(database, open, { banks: name, strategy, connections, requests, warmUp: WARM_UP }))
    }
  }
  return cells
}

/** @returns the seconds that building took */
async function buildIndexes (single: OpenStore, pooled: OpenStore): Promise<number> {
  const started = performance.now()
  await single.indexes.maintain(() => {})
  const seconds = (performance.now() - started) / 1000
  // Tells each store which banks have an index.
  for (const { indexes } of [single, pooled]) await indexes.update(SPACE, () => {})
  return seconds
}

function banksNamed (name: string, count: number): Bank[] {
  return Array.from({ length: count }, (_, index) => emptyBank(`${name}-${index}`))
}

function logProgress (what: string): void {
  console.error(what)
}
