// Builds dist/ anew: what was removed from src/ is not left behind in it.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(`${ROOT}/dist`, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [TSC, '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: ['ignore', 2, 2] })
process.exitCode = status ?? 1
