import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { testApp, type TestApp } from './app.js'
import type { TestConfig } from './config.js'

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface CliOptions {
  env?: Record<string, string>
  /** null: standard input stays open and silent. */
  stdin?: string | Uint8Array | null
  cwd?: string
}

export interface CliResult {
  /** The signal, when one ended it. */
  code: number | NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunningCli {
  process: ChildProcess
  result: Promise<CliResult>
}

/** Starts the built command, with as little of the environment as a process needs and what the test says. */
export function spawnCli (args: readonly string[], {
  env = {}, stdin = '', cwd = tmpdir(),
}: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    // No profile and no `.env` of the developer's own.
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'test', XDG_CONFIG_HOME: '/nowhere/at/all', ...env },
    cwd,
    stdio: 'pipe',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => { stdout += data.toString() })
  child.stderr.on('data', (data: Buffer) => { stderr += data.toString() })
  // A command that reads nothing may have ended before.
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin)
  const result = once(child, 'close').then(([code, signal]: Array<number | NodeJS.Signals | null>) => (
    { code: code ?? signal ?? null, stdout, stderr }
  ))
  return { process: child, result }
}

export async function runCli (args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return await spawnCli(args, options).result
}

export interface CliServer extends TestApp {
  /** Runs a command against this server. */
  cli (args: readonly string[], options?: CliOptions): Promise<CliResult>
  url: string
}

/** The gateway on a real socket, and the command as its client. */
export async function cliServer (t: Test, config: TestConfig = {}): Promise<CliServer> {
  const server = await testApp(t, config)
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...server,
    url,
    cli: async (args, { env, ...options } = {}) => await runCli(args, {
      env: { MEMORY_GATEWAY_URL: url, ...env }, ...options,
    }),
  }
}
