// Builds dist/ anew: what was removed from src/ is not left behind in it. Runs after `npm ci`, before `npm pack`, and,
// when a source is newer, with the build of the gateway.
import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const INPUTS = ['package.json', 'scripts/build.mjs', 'src', 'tsconfig.build.json', 'tsconfig.json']

function compiler () {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc')
  } catch {
    // An installation without development dependencies runs the gateway, which needs no dist/ here.
    return undefined
  }
}

/** The last change of a file or, of a folder, of anything in it; a removed file changes its folder. */
function changedAt (path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return -Infinity
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))))
}

/** Whether an input has changed since dist/ was built. */
export function isStale () {
  return Math.max(...INPUTS.map((name) => changedAt(join(ROOT, name)))) > changedAt(join(ROOT, 'dist'))
}

/** @returns whether dist/ is built, or cannot be built here */
export function build () {
  const tsc = compiler()
  if (tsc === undefined) {
    console.error('build: typescript is not installed, so memory-gateway-client is not built')
    return true
  }
  rmSync(`${ROOT}/dist`, { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: ROOT, stdio: ['ignore', 2, 2],
  })
  // What was emitted in spite of an error would pass for a build.
  if (status !== 0) rmSync(`${ROOT}/dist`, { recursive: true, force: true })
  return status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !build()) process.exitCode = 1
