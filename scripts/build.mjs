// Builds dist/ when one of its sources has changed; otherwise prints nothing and takes a few milliseconds. `npm ci`
// runs it through `prepare`, where a missing compiler is no error: `npm ci --omit=dev` leaves dist/ unchanged.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const STAMP = 'dist/.built'
const CONSOLE_STAMP = 'dist/.console-built'

/** The sources of dist/: these, and all TypeScript files of scripts/. */
const INPUTS = [
  'app.ts', 'embedded.ts', 'index.ts', 'server.ts', 'cli', 'http', 'lib', 'mcp', 'packages/client/src', 'plugins',
  'routes', 'scripts/build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json',
]

/** The sources of dist/console/. */
const CONSOLE_INPUTS = ['console', 'packages/client/src', 'scripts/build-console.mjs', 'package-lock.json']

/** Files that the program reads at run time and the compiler does not emit. */
const ASSETS = [
  'lib/stores/sql/pglite-worker.mjs',
  'lib/models/workers/worker.mjs',
  'lib/models/local/use-engine.mjs',
  'lib/models/local/use-matrices.mjs',
  'lib/models/local/use-model.mjs',
  'lib/models/local/use-tokenizer.mjs',
  'lib/models/local/use-weights.mjs',
  'lib/models/local/matrices.wasm',
  'lib/models/transformers/engine.mjs',
]

/** The name, size and time of the last change of every file at or below a path. */
function fileStates (path) {
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [`${path} ${found.size} ${found.mtimeMs}`]
  return readdirSync(join(ROOT, path)).flatMap((name) => fileStates(`${path}/${name}`))
}

/** Changes whenever an input is changed, added or removed. */
function fingerprint (inputs) {
  return createHash('sha256').update(inputs.flatMap(fileStates).join('\n')).digest('hex')
}

function scripts () {
  return readdirSync(join(ROOT, 'scripts')).filter((name) => name.endsWith('.ts')).map((name) => `scripts/${name}`)
}

function readStamp (stamp) {
  try {
    return readFileSync(join(ROOT, stamp), 'utf8')
  } catch {
    return undefined
  }
}

function installed (name) {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}

function compile (tsc, inputs) {
  // When the output is gone, the compiler's incremental state would still make it emit nothing.
  const force = existsSync(join(ROOT, 'dist/server.js')) ? [] : ['--incremental', 'false', '--tsBuildInfoFile', 'null']
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', ...force], {
    cwd: ROOT, stdio: ['ignore', 2, 2],
  })
  if (status !== 0) return false
  for (const asset of ASSETS) {
    mkdirSync(join(ROOT, 'dist', dirname(asset)), { recursive: true })
    copyFileSync(join(ROOT, asset), join(ROOT, 'dist', asset))
  }
  // npm does this for an installed package; a checkout and the container image run the file itself.
  if (existsSync(join(ROOT, 'dist/cli/main.js'))) chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755)
  writeFileSync(join(ROOT, STAMP), inputs)
  return true
}

/** Brings dist/console/ up to date if its sources and compiler are present. @returns whether that succeeded */
function buildConsole () {
  if (!existsSync(join(ROOT, 'console/index.html')) || installed('vite') === undefined) return true
  const inputs = fingerprint(CONSOLE_INPUTS)
  if (existsSync(join(ROOT, 'dist/console/index.html')) && readStamp(CONSOLE_STAMP) === inputs) return true
  console.error('build: dist/console/ is built')
  const { status } = spawnSync(process.execPath, ['scripts/build-console.mjs'], { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (status === 0) writeFileSync(join(ROOT, CONSOLE_STAMP), inputs)
  return status === 0
}

/** Brings packages/client/dist/ up to date if its sources are present. @returns whether that succeeded */
export async function buildClient () {
  const script = join(ROOT, 'packages/client/scripts/build.mjs')
  if (!existsSync(script) || installed('typescript/bin/tsc') === undefined) return true
  const client = await import(pathToFileURL(script).href)
  if (!client.isStale()) return true
  console.error('build: packages/client/dist/ is built')
  return client.build()
}

/**
 * Brings dist/ up to date.
 * @param optional whether it is no error that nothing can be built
 * @returns false, after a message on standard error, when there is no dist/ that could be run
 */
export function build ({ optional = false } = {}) {
  const built = existsSync(join(ROOT, 'dist/server.js'))
  // The published package has no sources.
  if (built && !existsSync(join(ROOT, 'server.ts'))) return true
  const inputs = fingerprint([...INPUTS, ...scripts()])
  if (built && readStamp(STAMP) === inputs) return buildConsole()
  const tsc = installed('typescript/bin/tsc')
  if (tsc !== undefined && existsSync(join(ROOT, 'server.ts'))) {
    console.error(built ? 'build: dist/ is older than its sources and is built again' : 'build: dist/ is built')
    return compile(tsc, inputs) && buildConsole()
  }
  if (built) {
    if (!optional && readStamp(STAMP) !== undefined) {
      console.error('build: dist/ is used although it may differ from the sources, because TypeScript, which would ' +
        'build it again, is not installed')
    }
    return true
  }
  if (optional) {
    console.error('build: TypeScript is not installed, so dist/ is not built')
    return true
  }
  console.error('build: there is no dist/, and TypeScript, which builds it, is not installed. Run `npm ci` without ' +
    '--omit=dev, which installs it and builds dist/, or copy a dist/ that was built elsewhere.')
  return false
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!build({ optional: process.argv.includes('--optional') }) || !await buildClient()) process.exitCode = 1
}
