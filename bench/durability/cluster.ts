import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { UnusableInput } from '../checker.js'

const run = promisify(execFile)
export const OWNER = 'postgres'
/** Below the range for outgoing connections, so that the port is still free when the cluster restarts. */
const FIRST_PORT = 15470
const LAST_PORT = 15499

/**
 * A PostgreSQL cluster that belongs to the bench, with the settings of a production server except for the size of its
 * log.
 */
export class Cluster {
  readonly url: string
  readonly #bin: string
  readonly #data: string
  readonly #log: string
  readonly #onExit: () => void

  private constructor (bin: string, data: string, log: string, port: number) {
    this.#bin = bin
    this.#data = data
    this.#log = log
    this.url = `postgres://app@127.0.0.1:${port}/postgres`
    this.#onExit = () => {
      const [file, args, options] = this.#command('pg_ctl', ['stop', '-D', data, '-m', 'immediate'])
      execFileSync(file, args, { ...options, stdio: 'ignore' })
    }
  }

  /**
   * Makes a cluster and starts it.
   * @param folder an existing one that may be handed to the user postgres; the log is beside it
   */
  static async create (bin: string, folder: string): Promise<Cluster> {
    const data = join(folder, 'cluster')
    await mkdir(data)
    if (isRoot()) await giveToPostgres(data)
    const port = await freePort()
    const log = `${folder}.log`
    await appendFile(log, '')
    if (isRoot()) await giveToPostgres(log)
    const cluster = new Cluster(bin, data, log, port)
    try {
      await run(...cluster.#command('initdb', ['-D', data, '-U', 'app', '-A', 'trust', '-E', 'UTF8', '--no-locale']))
    } catch (error) {
      throw new UnusableInput(`--pg-bin: initdb failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    await appendFile(join(data, 'postgresql.conf'), `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
min_wal_size = 32MB
max_wal_size = 64MB
fsync = on
synchronous_commit = on
full_page_writes = on
`)
    await cluster.start()
    process.once('exit', cluster.#onExit)
    return cluster
  }

  async start (): Promise<void> {
    await this.#control('start', '-w', '-l', this.#log)
  }

  /** Ends every process of the database immediately and starts it, so that it recovers as after a crash. */
  async crashAndRestart (): Promise<void> {
    await this.#control('restart', '-w', '-m', 'immediate', '-l', this.#log)
  }

  async isRunning (): Promise<boolean> {
    return await this.#control('status').then(() => true, () => false)
  }

  async stop (): Promise<void> {
    process.off('exit', this.#onExit)
    if (await this.isRunning()) await this.#control('stop', '-w', '-m', 'fast')
  }

  async #control (...args: string[]): Promise<void> {
    await run(...this.#command('pg_ctl', ['-D', this.#data, ...args]))
  }

  #command (program: string, args: string[]): [string, string[], { cwd: string }] {
    const path = join(this.#bin, program)
    // The server refuses to run as root.
    return isRoot()
      ? ['setpriv', [`--reuid=${OWNER}`, `--regid=${OWNER}`, '--init-groups', path, ...args], { cwd: '/' }]
      : [path, args, { cwd: '/' }]
  }
}

export function isRoot (): boolean {
  return process.getuid?.() === 0
}

export async function giveToPostgres (path: string): Promise<void> {
  const [user, group] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, OWNER], { encoding: 'utf8' })))
  await chown(path, user!, group!)
  // The folders above it were made by mkdtemp, which closes them to other users.
  for (let folder = dirname(path); folder.includes('memory-gateway-durability-'); folder = dirname(folder)) {
    await chmod(folder, 0o755)
  }
}

async function freePort (): Promise<number> {
  for (let port = FIRST_PORT; port <= LAST_PORT; port++) {
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch {
      // The port is in use.
    }
  }
  throw new UnusableInput(`none of the ports ${FIRST_PORT} to ${LAST_PORT} is free`)
}
