import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild, startGateway, type ChildServer } from '../child-server.js'
import { JsonClient } from '../json-client.js'
import { printReport } from '../report-output.js'
import { runBench } from '../run-bench.js'
import { runAutocannon } from './autocannon.js'
import { measureCell, warmUp, type CellResult } from './cell.js'
import { readOptions, USAGE, type Options } from './options.js'
import { measureOverhead } from './overhead.js'
import { formatReport, type Report } from './report.js'
import { makeWorkloads, type Workload } from './workloads.js'
import { runWrk } from './wrk.js'

const BARE = fileURLToPath(new URL('bare-server.ts', import.meta.url))
const WARM_UP_SECONDS = 1
/** The defaults, in a file as in production: no rate limit, no quota, no budget. */
const CONFIGURATION = 'vector_store: in_memory\nembedding_provider: mock\n'

await runBench(async (args) => {
  const options = readOptions(args)
  const before = loadavg()[0]!
  const gateway = await startGateway(CONFIGURATION)
  const client = new JsonClient(gateway.url)
  try {
    // The overhead is measured on the bank of the reflects.
    const workloads = await makeWorkloads(
      client, options.overhead ? [...new Set([...options.routes, 'reflect-1000' as const])] : options.routes,
    )
    const cells = await measureCells(gateway, workloads.filter(({ route }) => options.routes.includes(route)), options)
    const report: Report = {
      bench: 'http',
      tool: options.tool,
      seconds: options.seconds,
      warm_up_seconds: WARM_UP_SECONDS,
      node: process.versions.node,
      cores: availableParallelism(),
      cells,
      ...(options.overhead && { overhead: await measureOverhead(gateway.url) }),
      load_average: { before, after: loadavg()[0]! },
    }
    await printReport(report, formatReport, options.json)
  } finally {
    client.close()
    await gateway.stop()
  }
}, USAGE)

async function measureCells (
  gateway: ChildServer, workloads: readonly Workload[], { connections, seconds, tool }: Options,
): Promise<CellResult[]> {
  if (workloads.length === 0) return []
  const bare = await startBare(workloads)
  const cellOptions = {
    gateway, bare, tool: tool === 'wrk' ? runWrk : runAutocannon, seconds, warmUpSeconds: WARM_UP_SECONDS,
  }
  const cells: CellResult[] = []
  try {
    for (const workload of workloads) {
      await warmUp(workload, cellOptions)
      for (const count of connections) {
        console.error(`${workload.route}, connections: ${count}`)
        cells.push(await measureCell(workload, count, cellOptions))
      }
    }
  } finally {
    await bare.stop()
  }
  return cells
}

async function startBare (workloads: readonly Workload[]): Promise<ChildServer> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  try {
    const file = join(folder, 'recordings.json')
    await writeFile(file, JSON.stringify(workloads.flatMap(({ recording }) => recording ?? [])))
    return await startChild(['--import', 'tsx', BARE, file], 'PORT')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
