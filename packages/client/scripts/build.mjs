// Builds dist/ anew: what was removed from src/ is not left behind in it. Runs after `npm ci` and before `npm pack`.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

function compiler () {
  try {
    return createRequire(import.meta.url).resolve('typescript/bin/tsc')
  } catch {
    // An installation without development dependencies runs the gateway, which needs no dist/ here.
    return undefined
  }
}

const tsc = compiler()
if (tsc === undefined) {
  console.error('build: typescript is not installed, so memory-gateway-client is not built')
} else {
  rmSync(`${ROOT}/dist`, { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: ROOT, stdio: ['ignore', 2, 2],
  })
  process.exitCode = status ?? 1
}
