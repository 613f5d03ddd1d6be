// Compiles the tests and everything that they import into .test-build/, which mirrors the repository: next to the
// compiled files are the sources and the data files, and every other entry at the top level is a link. A test therefore
// finds its files by the same paths, and Node.js runs it without a TypeScript loader. Only changed files are compiled;
// `npm run typecheck` checks the types.
import {
  copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync,
  utimesSync, writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The folder of the compiled tests. */
export const TARGET = join(ROOT, '.test-build')

const MIRRORED = [
  'app.ts', 'embedded.ts', 'index.ts', 'server.ts', 'bench', 'cli', 'console', 'http', 'lib', 'mcp', 'packages',
  'plugins', 'routes', 'scripts', 'test',
]
const PACKAGES = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)
const EXCLUDED = new Set([
  '.git', '.cache', '.tap', '.test-build', 'node_modules', 'bench/results',
  ...PACKAGES.flatMap((path) => [`${path}/dist`, `${path}/node_modules`]),
])

function filesAt (path) {
  if (EXCLUDED.has(path)) return []
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [path]
  return readdirSync(join(ROOT, path)).flatMap((name) => filesAt(`${path}/${name}`))
}

/** Whether the copy of a file has the size and the time of its source. */
function isCurrent (path, compiled) {
  const source = statSync(join(ROOT, path))
  const copy = statSync(join(TARGET, path), { throwIfNoEntry: false })
  const isSame = copy?.size === source.size && Math.abs(copy.mtimeMs - source.mtimeMs) < 1
  return isSame && (compiled === undefined || existsSync(join(TARGET, compiled)))
}

const compiledName = (path) => (
  path.endsWith('.ts') && !path.endsWith('.d.ts') ? path.replace(/\.ts$/, '.js') : undefined
)

/** Replaces a file in one step, so that a process that reads it meanwhile sees either the old or the new content. */
function replaceFile (path, content) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}

function copy (path) {
  const { atime, mtime } = statSync(join(ROOT, path))
  const temporary = join(TARGET, `${path}.${process.pid}.tmp`)
  copyFileSync(join(ROOT, path), temporary)
  utimesSync(temporary, atime, mtime)
  renameSync(temporary, join(TARGET, path))
}

async function compile (path, compiled) {
  const { transform } = await import('esbuild')
  const { code, map } = await transform(readFileSync(join(ROOT, path), 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    sourcefile: join(ROOT, path),
    tsconfigRaw: { compilerOptions: { target: 'es2023', verbatimModuleSyntax: true, useDefineForClassFields: true } },
  })
  replaceFile(join(TARGET, `${compiled}.map`), map)
  replaceFile(
    join(TARGET, compiled), `${code}//# sourceMappingURL=${compiled.slice(compiled.lastIndexOf('/') + 1)}.map\n`
  )
}

function removeStaleFiles (folder, known) {
  for (const entry of readdirSync(join(TARGET, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) removeStaleFiles(path, known)
    else if (!known.has(path)) rmSync(join(TARGET, path), { force: true })
  }
}

function linkOtherEntries () {
  for (const name of readdirSync(ROOT)) {
    if (EXCLUDED.has(name) || MIRRORED.includes(name)) continue
    const link = join(TARGET, name)
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(join('..', name), link)
  }
}

/**
 * Replaces the module `tap` in .test-build/ with one that gives each of the files that share a process its own test
 * (scripts/test-scope.mjs).
 */
function replaceTapModule () {
  const folder = join(TARGET, 'node_modules/tap')
  const files = {
    'package.json': '{ "name": "tap", "type": "module", "exports": "./index.js" }\n',
    'index.js': `export * from '${new URL('../node_modules/tap/dist/esm/index.js', import.meta.url).href}'\nexport { ` +
      'scope as default, scope as t, scope as tap, test } from \'../../../scripts/test-scope.mjs\'\n',
  }
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    if (!existsSync(join(folder, name)) || readFileSync(join(folder, name), 'utf8') !== content) {
      replaceFile(join(folder, name), content)
    }
  }
}

/** @returns the paths of all mirrored files, relative to the repository */
export async function compileTests () {
  const paths = MIRRORED.flatMap(filesAt)
  const known = new Set(paths.flatMap((path) => [
    path, ...(compiledName(path) === undefined ? [] : [compiledName(path), `${compiledName(path)}.map`]),
  ]))
  const stale = paths.filter((path) => !isCurrent(path, compiledName(path)))
  for (const folder of new Set(stale.map((path) => dirname(path)))) mkdirSync(join(TARGET, folder), { recursive: true })
  await Promise.all(stale.map(async (path) => {
    const compiled = compiledName(path)
    if (compiled !== undefined) await compile(path, compiled)
    copy(path)
  }))
  for (const folder of MIRRORED.filter((path) => !path.endsWith('.ts'))) removeStaleFiles(folder, known)
  linkOtherEntries()
  replaceTapModule()
  return paths
}
