import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * Runs a built command of scripts/ to its end, with as little of the environment as a process needs and what the test
 * says.
 */
export async function runCommand (
  name: string, env: Record<string, string> = {}, args: readonly string[] = [],
): Promise<{ code: number | null, stdout: string, stderr: string }> {
  const program = fileURLToPath(new URL(`../../dist/scripts/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'test', ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => { stdout += data.toString() })
  child.stderr.on('data', (data: Buffer) => { stderr += data.toString() })
  const [code] = await once(child, 'close') as [number | null]
  return { code, stdout, stderr }
}
