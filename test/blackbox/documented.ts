import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const run = promisify(execFile)

/** A page of the repository. */
export function readPage (path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}

/**
 * Runs every curl of a page in order, as a reader would copy it, and holds what comes back against the answer that the
 * page promises.
 */
export async function runExamples (t: Test, page: string, url: string, atLeast: number): Promise<void> {
  const examples = [...page.matchAll(/```sh\n(curl .*?)\n```\n```json\n(.*?)\n```/gs)].map(
    ([, command, answer]) => ({ command: command!, answer: JSON.parse(answer!) as unknown }),
  )
  t.ok(examples.length >= atLeast, 'there are examples')
  for (const { command, answer } of examples) {
    const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8080', url)])
    t.strictSame(likeShown(answer, JSON.parse(stdout)), answer, command)
  }
}

/** An answer as the page shows it: what differs from run to run is written as "…". */
function likeShown (shown: unknown, real: unknown): unknown {
  if (shown === '…') return real === undefined ? undefined : '…'
  if (Array.isArray(shown) && Array.isArray(real)) return real.map((value, index) => likeShown(shown[index], value))
  if (typeof shown === 'object' && shown !== null && typeof real === 'object' && real !== null) {
    return Object.fromEntries(
      Object.entries(real).map(([key, value]) => [key, likeShown((shown as Record<string, unknown>)[key], value)]),
    )
  }
  return real
}
