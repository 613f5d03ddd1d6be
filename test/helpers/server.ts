import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))

export interface RunningServer {
  url: string
  process: ChildProcess
  /** Its output so far. */
  output (): string
  /** Settles when it has ended: its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>
}

/** As little of the environment as a process needs, and what the test says: nothing of the developer's own leaks in. */
function environment (env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', NODE_ENV: 'test', ...env }
}

/** Starts the built server as a separate process; the start may fail. */
export function spawnServer (
  t: Test, env: Record<string, string> = {}, options: { cwd?: string } = {},
): Omit<RunningServer, 'url'> {
  const child = spawn(process.execPath, [SERVER], {
    env: environment(env), stdio: ['ignore', 'pipe', 'pipe'], ...options,
  })
  let written = ''
  child.stdout.on('data', (data: Buffer) => { written += data.toString() })
  child.stderr.on('data', (data: Buffer) => { written += data.toString() })
  const ended = once(child, 'close').then(([code, signal]: Array<number | NodeJS.Signals | null>) => (
    code ?? signal ?? null
  ))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { process: child, output: () => written, ended }
}

/** Starts the built server on a free port of the loopback interface and waits until it listens. */
export async function startServer (
  t: Test, env: Record<string, string> = {}, options: { cwd?: string } = {},
): Promise<RunningServer> {
  const server = spawnServer(t, { SERVICES_PORT: '0', ...env }, options)
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /Server listening at (http:\/\/[^"\s]+)/.exec(server.output())
      if (found !== null) resolve(found[1]!)
    }
    server.process.stdout?.on('data', look)
    void server.ended.then((code) => { reject(new Error(`the server ended with ${code}: ${server.output()}`)) })
  })
  return { ...server, url }
}
