import { openSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { printReport } from '../report-output.js'
import { runBench } from '../run-bench.js'
import { Cluster } from './cluster.js'
import { failOver, fillDisk, restartDatabase, terminateBackends } from './faults.js'
import type { Target } from './gateway.js'
import { readOptions, USAGE, type Options } from './options.js'
import { PatroniCluster } from './patroni.js'
import { formatReport, hasNoFault, type Report, type StoreReport } from './report.js'
import { isViolated, Rounds, type RoundResult } from './rounds.js'
import { SmallDisk } from './small-disk.js'
import { openDirectory, openUrl, tableFaults } from './tables.js'

/** The gateway's default schema. */
const SCHEMA = 'memory_gateway'
const DISK_MB = 256

await runBench(async (args) => {
  const options = readOptions(args)
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-durability-'))
  const report: Report = {
    bench: 'durability', clients: options.clients, seed: options.seed, node: process.versions.node, stores: [],
  }
  const { failovers } = options
  if (failovers !== undefined) report.stores.push(await ofFailovers(options, failovers, folder))
  for (const store of failovers === undefined ? options.stores : []) {
    report.stores.push(await (store === 'pglite' ? ofPglite(options, folder) : ofPostgres(options, folder)))
  }
  await printReport(report, formatReport, options.json)
  if (report.stores.every(hasNoFault)) await rm(folder, { recursive: true })
  else {
    process.exitCode = 1
    console.error(`A fault was found; the data are kept in ${folder}`)
  }
}, USAGE)

async function ofPglite (options: Options, folder: string): Promise<StoreReport> {
  const report: StoreReport = { store: 'pglite', rounds: [], faults: [], skipped: [], tableFaults: [] }
  const run = async (directory: string, work: (rounds: Rounds) => Promise<void>) => {
    await withRounds(onPglite(directory, folder), options, work)
    const executor = await openDirectory(directory)
    report.tableFaults.push(...await tableFaults(executor, quoteSchema(SCHEMA)))
    await executor.close()
  }
  await run(join(folder, 'pglite'), async (rounds) => { await kills(rounds, options, report.rounds) })
  if (!options.databaseFaults) return report
  await onSmallDisk(join(folder, 'pglite-disk'), report, async (disk) => {
    await run(
      join(disk.path, 'data'), async (rounds) => { report.faults.push(logResult(await fillDisk(rounds, disk))) },
    )
  })
  return report
}

async function ofPostgres (options: Options, folder: string): Promise<StoreReport> {
  const report: StoreReport = { store: 'postgres', rounds: [], faults: [], skipped: [], tableFaults: [] }
  const run = async (url: string, work: (rounds: Rounds) => Promise<void>) => {
    const schema = `durability_${Date.now().toString(36)}`
    await withRounds(onPostgres(url, schema, folder), options, work)
    const executor = openUrl(url)
    const faults = await tableFaults(executor, quoteSchema(schema))
    report.tableFaults.push(...faults)
    // After a violation the data are kept for inspection.
    if (faults.length === 0 && ![...report.rounds, ...report.faults].some(isViolated)) {
      await executor.maintain(`drop schema ${quoteSchema(schema)} cascade`)
    }
    await executor.close()
  }
  const { url, pgBin } = options
  if (pgBin === undefined) {
    await run(url!, async (rounds) => { await kills(rounds, options, report.rounds) })
    return report
  }
  const home = join(folder, 'postgres')
  await mkdir(home)
  await onCluster(pgBin, home, async (cluster) => {
    await run(cluster.url, async (rounds) => {
      await kills(rounds, options, report.rounds)
      if (!options.databaseFaults) return
      report.faults.push(
        logResult(await restartDatabase(rounds, cluster)), logResult(await terminateBackends(rounds, cluster.url)),
      )
    })
  })
  if (!options.databaseFaults) return report
  await onSmallDisk(join(folder, 'postgres-disk'), report, async (disk) => {
    await onCluster(pgBin, disk.path, async (cluster) => {
      const restart = async () => {
        if (await cluster.isRunning()) return 'the database had not ended; '
        await cluster.start()
        return 'the database had ended and was started again; '
      }
      await run(cluster.url, async (rounds) => { report.faults.push(logResult(await fillDisk(rounds, disk, restart))) })
    })
  })
  return report
}

async function ofFailovers (options: Options, count: number, folder: string): Promise<StoreReport> {
  const report: StoreReport = { store: 'postgres', rounds: [], faults: [], skipped: [], tableFaults: [] }
  const cluster = await PatroniCluster.create(options.pgBin!, folder, !options.asynchronous)
  try {
    await withRounds(onPostgres(cluster.url, SCHEMA, folder, { transaction_pooler: true }), options, async (rounds) => {
      for (let at = 0; at < count; at++) {
        report.faults.push(logResult(await failOver(rounds, cluster, at % 2 === 0 ? 'kill' : 'switchover')))
      }
    })
    const executor = openUrl(cluster.url, true)
    report.tableFaults.push(...await tableFaults(executor, quoteSchema(SCHEMA)))
    await executor.close()
  } finally {
    await cluster.stop()
  }
  return report
}

async function kills (rounds: Rounds, options: Options, results: RoundResult[]): Promise<void> {
  for (let round = 0; round < options.rounds; round++) results.push(logResult(await rounds.kill()))
}

async function withRounds (target: Target, options: Options, work: (rounds: Rounds) => Promise<void>): Promise<void> {
  const rounds = await Rounds.start(target, options)
  try {
    await work(rounds)
  } finally {
    await rounds.stop()
  }
}

async function onCluster (bin: string, folder: string, work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await Cluster.create(bin, folder)
  try {
    await work(cluster)
  } finally {
    await cluster.stop()
  }
}

async function onSmallDisk (
  path: string, report: StoreReport, work: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  const disk = await SmallDisk.mount(path, DISK_MB)
  if (typeof disk === 'string') {
    report.skipped.push(`the disk is full: ${disk}`)
    return
  }
  try {
    await work(disk)
  } finally {
    await disk.unmount()
  }
}

function onPglite (directory: string, folder: string): Target {
  return { log: logIn(folder), configuration: configuration('pglite', { data_dir: directory }), env: {} }
}

function onPostgres (
  url: string, schema: string, folder: string, settings: Record<string, boolean> = {},
): Target {
  return {
    log: logIn(folder), configuration: configuration('postgres', { schema, ...settings }), env: { DATABASE_URL: url },
  }
}

/** Logs errors only; the file is removed with the folder when there is nothing to inspect. */
function logIn (folder: string): number {
  return openSync(join(folder, 'gateway.log'), 'a')
}

/** JSON is YAML. Vectors are made too, so that they are checked. */
function configuration (store: string, config: Record<string, string | boolean>): string {
  return JSON.stringify({
    vector_store: store,
    vector_store_config: config,
    embedding_provider: 'mock',
    retrieval: { weights: { semantic: 0.5 } },
  })
}

function logResult (result: RoundResult): RoundResult {
  const { name, acknowledged, unacknowledgedFound, lost, duplicates, restartMs, note, examples } = result
  console.error(`${name}: ${acknowledged} acknowledged, ${unacknowledgedFound} unacknowledged found, ${lost} lost, ` +
    `${duplicates} duplicates, restart ${restartMs.toFixed(0)} ms${note === undefined ? '' : `; ${note}`}`)
  for (const example of examples) console.error(`  ${example.slice(0, 1000)}`)
  return result
}
