import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, mkdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startGateway } from '../../bench/child-server.js'
import { memoryReportOptions } from '../../bench/memory-after-gc.js'

export const STORES = ['in_memory', 'pglite', 'postgres'] as const
export type Store = typeof STORES[number]

/** A caller who owns a bank, another bank of hers, and one who has no right anywhere. */
export const OWNER = 'user:mallory'
export const OWN_BANK = 'user-mallory'
export const DEDUP_BANK = 'dedup-mallory'
export const OUTSIDER = 'user:nobody'
export const FOREIGN_BANK = 'team-secrets'
/** The source that accepts any sender. */
export const SOURCE = 'hooks'

const MEGABYTE = 1e6

/** A built server of its own, with what can be seen of its process. */
export interface Target {
  store: Store
  url: string
  port: number
  pid: number
  alive (): boolean
  /**
   * Open descriptors; 0 where there is no /proc, or no process. PGlite keeps up to a thousand files of its tables open,
   * as PostgreSQL does, and they do not count.
   */
  descriptors (): number
  /** Clients whose connections it has open; 0 where there is no /proc. Not those of a pool, which are no client's. */
  connections (): number
  /** Connections whose clients have an answer, or its beginning, that they have not read; 0 where there is no /proc. */
  unread (): number
  /**
   * Client connections that it has open and on which an answer is still to come or to be sent; 0 where there is no
   * /proc. A refusal is sent as a whole, and its connection may be used again.
   */
  unfinished (): number
  /** Files in its temporary folder. */
  files (): number
  residentMb (): number | null
  /** What was resident when it had started, if the database is in the process; null elsewhere. */
  idleMb: number | null
  /** The most that was resident since resetPeak(). */
  peakMb (): number | null
  resetPeak (): void
  /** The path of the socket at which memory-after-gc-preload.mjs tells what it uses. */
  collector: string
  stop (): Promise<void>
}

export interface TargetOptions {
  store: Store
  /** Of the old generation, in megabytes. */
  heap: number
  /** TEST_DATABASE_URL. */
  databaseUrl: string | undefined
  /** More sections of the configuration, as YAML. */
  configuration?: string
  /** Whether it can be asked at `collector` what it uses after a full collection of garbage. */
  collects?: boolean
}

let started = 0

/**
 * Starts the built server with a heap limit, folders of its own, and a configuration that has access idleServer and a
 * webhook.
 */
export async function startTarget ({
  store, heap, databaseUrl, configuration = '', collects = false,
}: TargetOptions): Promise<Target> {
  started += 1
  // The system reports open files by their real paths.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'memory-gateway-attack-')))
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  const collector = join(folder, 'heap.sock')
  const schema = `attack_${process.pid}_${started}`
  try {
    const env = {
      SERVICES_LOG_LEVEL: 'error',
      TMPDIR: temporary,
      ...(store === 'postgres' && databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
    const server = await startGateway(configurationOf(store, schema, folder) + configuration, env, 'ignore', [
      `--max-old-space-size=${heap}`, ...(collects ? memoryReportOptions(collector) : []),
    ])
    const seen = processOf(server.pid, dataOf(folder))
    return {
      store,
      url: server.url,
      port: Number(new URL(server.url).port),
      pid: server.pid,
      ...seen,
      connections: () => connectionsAt(Number(new URL(server.url).port)),
      unread: () => unreadOf(Number(new URL(server.url).port)),
      unfinished: () => unfinishedAt(Number(new URL(server.url).port)),
      idleMb: store === 'pglite' ? seen.residentMb() : null,
      collector,
      files: () => countFiles(temporary),
      stop: async () => {
        await server.stop()
        await cleanUp()
      },
    }
  } catch (error) {
    await cleanUp()
    throw error
  }

  async function cleanUp (): Promise<void> {
    await rm(folder, { recursive: true, force: true })
    if (store === 'postgres' && databaseUrl !== undefined) await dropSchema(databaseUrl, schema)
  }
}

/** Where PGlite keeps its tables. */
function dataOf (folder: string): string {
  return join(folder, 'data')
}

function configurationOf (store: Store, schema: string, folder: string): string {
  const own = store === 'postgres'
    ? `vector_store_config: { schema: ${schema} }\n`
    : store === 'pglite' ? `vector_store_config: { data_dir: ${JSON.stringify(dataOf(folder))} }\n` : ''
  return `embedding_provider: mock
vector_store: ${store}
${own}access_control: { enabled: true, default_policy: owner_only }
access_grants:
  - { bank_id: 'dedup-*', principal: '${OWNER}', permissions: ['*'] }
  - { bank_id: ${SOURCE}, principal: 'service:${SOURCE}', permissions: [write] }
banks:
  dedup-*:
    signal_quality: { dedup: { action: warn } }
sources:
  ${SOURCE}: { type: webhook, target_bank: ${SOURCE}, auth: { type: none } }
`
}

function processOf (
  pid: number, data: string,
): Pick<Target, 'alive' | 'descriptors' | 'residentMb' | 'peakMb' | 'resetPeak'> {
  const descriptors = `/proc/${pid}/fd`
  const isTable = (descriptor: string) => {
    try {
      return readlinkSync(join(descriptors, descriptor)).startsWith(`${data}/`)
    } catch {
      // It was closed meanwhile.
      return true
    }
  }
  const field = (name: string): number | null => {
    try {
      const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
      return found === null ? null : Number(found[1]) * 1024 / MEGABYTE
    } catch {
      return null
    }
  }
  return {
    alive: () => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    },
    descriptors: () => {
      try {
        return readdirSync(descriptors).filter((descriptor) => !isTable(descriptor)).length
      } catch {
        return 0
      }
    },
    residentMb: () => field('VmRSS'),
    peakMb: () => field('VmHWM'),
    // Where it is not allowed the peak counts from the start of the process, which is stricter.
    resetPeak: () => { try { writeFileSync(`/proc/${pid}/clear_refs`, '5') } catch { /* As said. */ } },
  }
}

/** States of a connection that its owner has not closed: established, and one that the other end has closed. */
const OPEN = ['01', '08']

function connectionsAt (port: number): number {
  return connectionTable().filter(({ local, state }) => local === port && OPEN.includes(state)).length
}

function unreadOf (port: number): number {
  return connectionTable().filter(({ remote, received }) => remote === port && received > 0).length
}

function unfinishedAt (port: number): number {
  const all = connectionTable()
  const answered = new Set(all.flatMap(({ local, remote, received }) => remote === port && received > 0 ? [local] : []))
  return all.filter(({ local, remote, state, unsent }) => (
    local === port && OPEN.includes(state) && (unsent > 0 || !answered.has(remote))
  )).length
}

interface Connection {
  /** Ports. */
  local: number
  remote: number
  state: string
  /** Bytes that the other end has not received. */
  unsent: number
  /** Bytes that its owner has not read. */
  received: number
}

function connectionTable (): Connection[] {
  try {
    return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => (
      readFileSync(file, 'latin1').split('\n')
    )).map((line) => {
      const [, local = '', remote = '', state = '', queues = ''] = line.trim().split(/\s+/)
      const [unsent = '', received = ''] = queues.split(':')
      return {
        local: portOf(local),
        remote: portOf(remote),
        state,
        unsent: Number.parseInt(unsent, 16),
        received: Number.parseInt(received, 16),
      }
    })
  } catch {
    return []
  }
}

function portOf (address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
}

function countFiles (folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => (
    statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() ?? false
  )).length
}

async function dropSchema (url: string, schema: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(`drop schema if exists ${schema} cascade`)
  } finally {
    await sql.end()
  }
}
