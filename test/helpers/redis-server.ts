import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Test } from 'tap'

/** Why tests with a real server are skipped; false when its program is there. */
export const WITHOUT_REDIS = spawnSync('redis-server', ['--version']).status === 0
  ? false
  : 'redis-server is not installed (Debian: redis-server)'

/** A redis-server of its own on loopback, which keeps nothing on disk and goes when the test ends. */
export class RedisServer {
  readonly #port: number
  #process: ChildProcess | undefined

  constructor (port: number) {
    this.#port = port
  }

  static async on (t: Test): Promise<RedisServer> {
    const server = new RedisServer(await freePort())
    t.teardown(async () => { await server.kill() })
    await server.start()
    return server
  }

  get url (): string {
    return `redis://127.0.0.1:${this.#port}/0`
  }

  async start (): Promise<void> {
    const options = ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    for await (const data of child.stdout) if (String(data).includes('Ready to accept connections')) break
    child.stdout.destroy()
  }

  /** A stopped process answers nothing, but keeps its connections. */
  signal (name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name)
  }

  async kill (): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
