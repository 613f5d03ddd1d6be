import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { GATEWAY, startGateway, type ChildServer } from '../child-server.js'
import { HttpClient } from './http-client.js'

/** PGlite may have to recover first, on a busy machine. */
const READY_LIMIT_MS = 60_000

/** What a gateway is started with, also after each kill. */
export interface Target {
  /** YAML. */
  configuration: string
  env: Record<string, string>
  /** An open file for its log. */
  log: number
}

/** The built server on a store, in a process of its own. */
export class Gateway {
  readonly client: HttpClient
  /** From the start of the process until GET /health answered 200. */
  readonly startMs: number
  readonly #server: ChildServer

  private constructor (server: ChildServer, client: HttpClient, startMs: number) {
    this.#server = server
    this.client = client
    this.startMs = startMs
  }

  static async start ({ configuration, env, log }: Target): Promise<Gateway> {
    const started = performance.now()
    const server = await startGateway(configuration, { SERVICES_LOG_LEVEL: 'error', ...env }, log)
    const client = new HttpClient(server.url)
    try {
      await untilReady(client)
    } catch (error) {
      await server.stop()
      throw error
    }
    return new Gateway(server, client, performance.now() - started)
  }

  /**
   * SIGKILL: nothing of the process runs after it.
   * @returns whether it had been running until then
   */
  async kill (): Promise<boolean> {
    let ran = true
    try {
      process.kill(this.#server.pid, 'SIGKILL')
    } catch {
      ran = false
    }
    await this.#server.stop()
    this.client.close()
    return ran
  }

  /** SIGTERM, as an operator stops it. */
  async stop (): Promise<void> {
    this.client.close()
    await this.#server.stop()
  }
}

/** A start that is killed after `afterMs`, while it loads, recovers or checks the tables. */
export async function interruptedStart ({ configuration, env }: Target, afterMs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  const path = join(folder, 'config.yaml')
  await writeFile(path, configuration)
  const child = spawn(process.execPath, [GATEWAY], {
    env: { NODE_ENV: 'production', ...env, SERVICES_CONFIG_PATH: path, SERVICES_PORT: '0' }, stdio: 'ignore',
  })
  const ended = once(child, 'close')
  const kill = () => { child.kill('SIGKILL') }
  process.once('exit', kill)
  await delay(afterMs)
  kill()
  await ended
  process.off('exit', kill)
  await rm(folder, { recursive: true, force: true })
}

/** @returns milliseconds */
export async function untilReady (client: HttpClient): Promise<number> {
  const started = performance.now()
  for (;;) {
    const answer = await client.get('/health').catch(() => undefined)
    const waited = performance.now() - started
    if (answer?.status === 200) return waited
    if (waited > READY_LIMIT_MS) {
      throw new Error(`GET /health was not 200 within ${READY_LIMIT_MS} ms: ${answer?.text ?? 'no answer'}`)
    }
    await delay(10)
  }
}
