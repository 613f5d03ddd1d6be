import type { ChildServer } from '../child-server.js'
import { cpuTimeMs } from './cpu-time.js'
import type { LoadResult, LoadTool, Requests } from './load-tool.js'
import type { Route, Workload } from './workloads.js'

export interface SideResult extends LoadResult {
  /** Processor time per request, all threads of the server together; null where it is not available. */
  cpu_us_per_request: number | null
}

/** One route at one number of connections, on both servers. */
export interface CellResult {
  route: Route
  connections: number
  gateway: SideResult
  bare: SideResult
  /** Requests per second of the gateway divided by those of the bare server. */
  ratio: number
  /**
   * Processor time per request of the bare server divided by that of the gateway: the `ratio` if each server had a core
   * of its own, so it is valid on a busy machine too; null where it is not available.
   */
  cpu_ratio: number | null
}

export interface CellOptions {
  gateway: ChildServer
  bare: ChildServer
  tool: LoadTool
  seconds: number
  warmUpSeconds: number
}

/** Long enough for V8 to compile every path of a route. */
const FIRST_WARM_UP = { connections: 16, seconds: 3 }

/** Before the first cell of a route. */
export async function warmUp (workload: Workload, { gateway, bare, tool }: CellOptions): Promise<void> {
  const cell = `${workload.route}-warm-up`
  const requests = { ...FIRST_WARM_UP, method: workload.method, bodies: workload.bodies(cell) }
  await tool({ ...requests, url: `${gateway.url}${workload.path}` })
  await workload.cleanUp(cell)
  await tool({ ...requests, url: `${bare.url}${workload.barePath}` })
}

/** The two servers are measured one right after the other, so that a noisy minute of the machine hits both. */
export async function measureCell (workload: Workload, connections: number, options: CellOptions): Promise<CellResult> {
  const cell = `${workload.route}-${connections}`
  const requests = { method: workload.method, bodies: workload.bodies(cell), connections }
  const gateway = await measureSide(
    options.gateway, { ...requests, url: `${options.gateway.url}${workload.path}` }, options,
  )
  await workload.cleanUp(cell)
  const bare = await measureSide(options.bare, { ...requests, url: `${options.bare.url}${workload.barePath}` }, options)
  const cpuRatio = gateway.cpu_us_per_request === null || bare.cpu_us_per_request === null
    ? null
    : bare.cpu_us_per_request / gateway.cpu_us_per_request
  return {
    route: workload.route,
    connections,
    gateway,
    bare,
    ratio: gateway.requests_per_second / bare.requests_per_second,
    cpu_ratio: cpuRatio,
  }
}

async function measureSide ({ pid }: ChildServer, requests: Omit<Requests, 'seconds'>, {
  tool, seconds, warmUpSeconds,
}: CellOptions): Promise<SideResult> {
  await tool({ ...requests, seconds: warmUpSeconds })
  const before = cpuTimeMs(pid)
  const result = await tool({ ...requests, seconds })
  const after = cpuTimeMs(pid)
  const spent = before === undefined || after === undefined ? null : after - before
  return { ...result, cpu_us_per_request: spent === null ? null : spent * 1000 / result.requests }
}
