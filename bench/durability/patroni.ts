import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { UnusableInput } from '../checker.js'
import { freePort } from '../free-port.js'
import { giveToPostgres, isRoot, OWNER } from './cluster.js'

const OPS = fileURLToPath(new URL('../../ops/', import.meta.url))
const PASSWORD = 'trial'
const ROLE = 'memory_server'
const DATABASE = 'memory'
const LIMIT_MS = 120_000

interface Node {
  readonly name: string
  readonly folder: string
  readonly rest: number
  readonly port: number
  readonly pooler: number
  patroni: ChildProcess | undefined
}

/**
 * Patroni with one etcd, two nodes of PostgreSQL with a PgBouncer each, and HAProxy in front of them, with the files of
 * ops/, as an operator would run it on five machines.
 */
export class PatroniCluster {
  /** What gateways connect to. */
  readonly url: string
  readonly #bin: string
  readonly #folder: string
  readonly #etcd: number
  readonly #nodes: readonly Node[]
  readonly #isSynchronous: boolean
  readonly #children: ChildProcess[] = []
  readonly #onExit = () => { this.#killAll() }

  private constructor (
    bin: string, folder: string, isSynchronous: boolean, etcd: number, proxy: number, nodes: readonly Node[],
  ) {
    this.#bin = bin
    this.#folder = folder
    this.#isSynchronous = isSynchronous
    this.#etcd = etcd
    this.#nodes = nodes
    this.url = `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${proxy}/${DATABASE}`
  }

  /** @returns the programs that are not installed */
  static missing (): string[] {
    return ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/pgbouncer', '/usr/sbin/haproxy']
      .filter((path) => !existsSync(path))
  }

  /** @param isSynchronous whether a commit waits for the standby, as ops/patroni.yml says */
  static async create (bin: string, folder: string, isSynchronous: boolean): Promise<PatroniCluster> {
    const missing = PatroniCluster.missing()
    if (missing.length > 0) throw new UnusableInput(`--failover needs ${missing.join(', ')}`)
    const [etcd, peer, proxy] = [await freePort(), await freePort(), await freePort()]
    const nodes: Node[] = []
    for (const name of ['db-1', 'db-2']) {
      const [rest, port, pooler] = [await freePort(), await freePort(), await freePort()]
      nodes.push({ name, folder: join(folder, name), rest, port, pooler, patroni: undefined })
    }
    const cluster = new PatroniCluster(bin, folder, isSynchronous, etcd, proxy, nodes)
    process.once('exit', cluster.#onExit)
    for (const { folder: home } of nodes) {
      await mkdir(home)
      if (isRoot()) await giveToPostgres(home)
    }
    const configuration = await readFile(join(OPS, 'patroni.yml'), 'utf8')
    await writeFile(join(folder, 'patroni.yml'), isSynchronous
      ? configuration
      : configuration.replace('synchronous_mode: true', 'synchronous_mode: false'))
    cluster.#spawn('etcd', [
      '--data-dir', join(nodes[0]!.folder, 'etcd'), '--listen-client-urls', `http://127.0.0.1:${etcd}`,
      '--advertise-client-urls', `http://127.0.0.1:${etcd}`, '--listen-peer-urls', `http://127.0.0.1:${peer}`,
      '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`, '--initial-cluster', `default=http://127.0.0.1:${peer}`,
    ])
    for (const node of nodes) cluster.#startPatroni(node)
    await cluster.untilHealthy()
    await cluster.#createDatabase()
    for (const node of nodes) await cluster.#startPooler(node)
    cluster.#spawn('haproxy', ['-db', '-f', join(OPS, 'haproxy-postgres.cfg')], {
      DB_LISTEN: `127.0.0.1:${proxy}`,
      DB_1: `127.0.0.1:${nodes[0]!.pooler}`,
      DB_2: `127.0.0.1:${nodes[1]!.pooler}`,
      DB_1_HEALTH: String(nodes[0]!.rest),
      DB_2_HEALTH: String(nodes[1]!.rest),
    })
    await cluster.#untilReachable()
    return cluster
  }

  /** Kills everything on the machine of the primary: Patroni, PostgreSQL and its backends. @returns its name */
  async killPrimary (): Promise<string> {
    const primary = await this.#primary()
    const pid = Number((await readFile(join(primary.folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0])
    // Patroni first, because it would start the database again.
    primary.patroni?.kill('SIGKILL')
    for (const child of [pid, ...await childrenOf(pid)]) kill(child)
    return primary.name
  }

  /** Starts the nodes that were killed, and waits until there is a primary with a standby that has everything. */
  async repair (): Promise<void> {
    for (const node of this.#nodes) {
      if (node.patroni === undefined || node.patroni.signalCode !== null || node.patroni.exitCode !== null) {
        this.#startPatroni(node)
      }
    }
    await this.untilHealthy()
  }

  /** Waits until another node is the primary. */
  async untilReplaced (name: string): Promise<void> {
    await until('another primary', async () => (await this.#primary()).name !== name)
  }

  /** A switchover, as an operator orders one before the maintenance of a machine. @returns the primary until then */
  async switchOver (): Promise<string> {
    const leader = await this.#primary()
    const candidate = this.#nodes.find((node) => node !== leader)!
    const answer = await fetch(`http://127.0.0.1:${leader.rest}/switchover`, {
      method: 'POST', body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`The switchover was answered ${answer.status}: ${text}`)
    return leader.name
  }

  /** Waits for a primary and a standby that streams; with synchronous replication, for the synchronous one. */
  async untilHealthy (): Promise<void> {
    await until('a primary with a standby', async () => {
      const states = await Promise.all(this.#nodes.map(async ({ rest }) => await stateOf(rest)))
      const standby = states.find((state) => state !== undefined && state['role'] === 'replica')
      return states.some((state) => state !== undefined && ['master', 'primary'].includes(String(state['role'])) &&
        Array.isArray(state['replication']) && state['replication'].length > 0) &&
        standby !== undefined && standby['state'] === 'running'
    })
    await until('the standby to be a candidate', async () => {
      const statuses = await Promise.all(this.#nodes.map(async ({ rest }) => (
        await Promise.all(['sync', 'async'].map(async (path) => (
          (await fetch(`http://127.0.0.1:${rest}/${path}`).catch(() => undefined))?.status === 200
        )))
      )))
      return statuses.some(([sync, async]) => this.#isSynchronous ? sync : async)
    })
  }

  async stop (): Promise<void> {
    process.off('exit', this.#onExit)
    for (const { patroni } of this.#nodes) patroni?.kill('SIGTERM')
    for (const { patroni } of this.#nodes) {
      if (patroni !== undefined && patroni.exitCode === null && patroni.signalCode === null) {
        await new Promise((resolve) => { patroni.once('exit', resolve) })
      }
    }
    this.#killAll()
  }

  async #primary (): Promise<Node> {
    let found: Node | undefined
    await until('a primary', async () => {
      for (const node of this.#nodes) {
        const answer = await fetch(`http://127.0.0.1:${node.rest}/primary`).catch(() => undefined)
        if (answer?.status === 200) found = node
      }
      return found !== undefined
    })
    return found!
  }

  #startPatroni (node: Node): void {
    const hosts = `127.0.0.1:${this.#etcd}`
    node.patroni = this.#spawn('patroni', [join(this.#folder, 'patroni.yml')], {
      PATRONI_NAME: node.name,
      PATRONI_ETCD3_HOSTS: hosts,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${node.rest}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${node.rest}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${node.port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${node.port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(node.folder, 'data'),
      PATRONI_POSTGRESQL_BIN_DIR: this.#bin,
      PATRONI_POSTGRESQL_PGPASS: join(node.folder, 'pgpass'),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      PATRONI_REWIND_USERNAME: 'rewind',
      PATRONI_REWIND_PASSWORD: PASSWORD,
    })
  }

  async #startPooler (node: Node): Promise<void> {
    const users = join(node.folder, 'userlist.txt')
    await writeFile(users, `"${ROLE}" "${PASSWORD}"\n`)
    const ini = (await readFile(join(OPS, 'pgbouncer.ini'), 'utf8'))
      .replace('host=127.0.0.1 port=5432', `host=127.0.0.1 port=${node.port}`)
      .replace('listen_addr = *', 'listen_addr = 127.0.0.1\nunix_socket_dir =')
      .replace('listen_port = 6432', `listen_port = ${node.pooler}`)
      .replace('/etc/pgbouncer/userlist.txt', users)
    const file = join(node.folder, 'pgbouncer.ini')
    await writeFile(file, ini)
    this.#spawn('pgbouncer', ['-q', file])
  }

  /** What an operator does once, on the primary. */
  async #createDatabase (): Promise<void> {
    const { port } = await this.#primary()
    const url = (database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`
    const first = postgres(url('postgres'), { max: 1 })
    await first.unsafe(`create role ${ROLE} login password '${PASSWORD}'`)
    await first.unsafe(`create database ${DATABASE} owner ${ROLE}`)
    await first.end()
    const second = postgres(url(DATABASE), { max: 1 })
    await second.unsafe('create extension vector')
    const settings = {
      statement_timeout: '10s',
      idle_in_transaction_session_timeout: '60s',
      plan_cache_mode: 'force_custom_plan',
      enable_seqscan: 'off',
      jit: 'off',
      max_parallel_workers_per_gather: '0',
    }
    for (const [name, value] of Object.entries(settings)) {
      await second.unsafe(`alter role ${ROLE} in database ${DATABASE} set ${name} = '${value}'`)
    }
    await second.end()
  }

  async #untilReachable (): Promise<void> {
    await until('the database through the proxy', async () => {
      const sql = postgres(this.url, { max: 1, connect_timeout: 2, prepare: false })
      try {
        await sql`select 1`
        return true
      } catch {
        return false
      } finally {
        await sql.end({ timeout: 1 })
      }
    })
  }

  #spawn (program: string, args: string[], env: Record<string, string> = {}): ChildProcess {
    const log = openSync(join(this.#folder, `${program}.log`), 'a')
    // PostgreSQL and etcd do not need root, and PostgreSQL refuses to run as it.
    const [file, all] = isRoot()
      ? ['setpriv', [`--reuid=${OWNER}`, `--regid=${OWNER}`, '--init-groups', program, ...args]]
      : [program, args]
    const child = spawn(file!, all as string[], {
      cwd: '/',
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`, LC_ALL: 'C.UTF-8', HOME: this.#nodes[0]!.folder, ...env },
      stdio: ['ignore', log, log],
    })
    this.#children.push(child)
    return child
  }

  #killAll (): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}

async function stateOf (port: number): Promise<Record<string, unknown> | undefined> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/patroni`)).json() as Record<string, unknown>
  } catch {
    return undefined
  }
}

async function until (what: string, condition: () => Promise<boolean>): Promise<void> {
  const started = performance.now()
  while (!await condition()) {
    if (performance.now() - started > LIMIT_MS) throw new Error(`Waited ${LIMIT_MS} ms for ${what}`)
    await delay(100)
  }
}

/** The processes whose parent this one is. */
async function childrenOf (parent: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    if (/^PPid:\t(\d+)$/m.exec(status)?.[1] === String(parent)) found.push(Number(name))
  }
  return found
}

function kill (pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
