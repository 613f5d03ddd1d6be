import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { UnusableInput } from './checker.js'
import { freePort } from './free-port.js'

export const GATEWAY = fileURLToPath(new URL('../dist/server.js', import.meta.url))
/** A database in the process may have to be created or recovered first. */
const START_LIMIT_MS = 120_000

export interface ChildServer {
  url: string
  pid: number
  /** Ends the process and waits until it has ended. */
  stop (): Promise<void>
}

/**
 * Starts a Node program that serves HTTP on the port of its environment variable `portVariable`, and waits until GET
 * /live answers 200. Its standard output goes to /dev/null, so writing its log is part of its cost.
 * @param env its whole environment, so that the developer's own does not influence a figure
 * @param output an open file for its standard output instead
 */
export async function startChild (
  args: readonly string[], portVariable: string, env: Record<string, string> = {}, output: 'ignore' | number = 'ignore',
): Promise<ChildServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, args, {
    env: { NODE_ENV: 'production', ...env, [portVariable]: String(port) }, stdio: ['ignore', output, 'pipe'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${process.execPath} could not be started`)
  let errorOutput = ''
  child.stderr?.on('data', (data: Buffer) => { errorOutput += data.toString() })
  const ended = once(child, 'close')
  const kill = () => { child.kill('SIGKILL') }
  process.once('exit', kill)
  const stop = async () => {
    process.off('exit', kill)
    child.kill('SIGTERM')
    // A server that does not stop must not keep the bench from ending.
    const timer = setTimeout(kill, 5000)
    await ended
    clearTimeout(timer)
  }
  try {
    await untilLive(url, () => child.exitCode !== null || child.signalCode !== null)
  } catch (cause) {
    await stop()
    throw new Error(
      `${args.at(-1)} did not start: ${errorOutput.trim() || 'it wrote nothing to standard error'}`, { cause },
    )
  }
  return { url, pid, stop }
}

/**
 * Starts the built gateway.
 * @param configuration a YAML text; without it the gateway has its defaults
 * @param env further variables, such as DATABASE_URL
 * @param output an open file for its log
 * @param nodeOptions arguments of node itself
 */
export async function startGateway (
  configuration?: string, env: Record<string, string> = {}, output: 'ignore' | number = 'ignore',
  nodeOptions: readonly string[] = [],
): Promise<ChildServer> {
  if (!existsSync(GATEWAY)) throw new UnusableInput('dist/server.js does not exist: run `npm run build` first')
  if (configuration === undefined) return await startChild([...nodeOptions, GATEWAY], 'SERVICES_PORT', env, output)
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  try {
    const path = join(folder, 'config.yaml')
    await writeFile(path, configuration)
    return await startChild([...nodeOptions, GATEWAY], 'SERVICES_PORT', { ...env, SERVICES_CONFIG_PATH: path }, output)
  } finally {
    // The gateway reads its configuration once, before it listens.
    await rm(folder, { recursive: true, force: true })
  }
}

async function untilLive (url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  while (Date.now() < deadline) {
    if (hasEnded()) throw new Error('the process ended')
    const answer = await fetch(`${url}/live`).catch(() => undefined)
    if (answer?.status === 200) return
    await delay(50)
  }
  throw new Error(`no answer within ${START_LIMIT_MS} ms`)
}
