import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { OPENAPI_FILE } from '../../scripts/openapi-document.js'

/** Where .ci/generators has installed those that need a newer Node.js than the gateway. */
const INSTALLED = process.env['TEST_GENERATORS']
const DOCUMENT = fileURLToPath(OPENAPI_FILE)
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
}

interface Generator {
  name: string
  /** Its package; the program is the only entry of `bin`. */
  from: string
  bin: string
  /** @param folder where the client belongs, as `generated` */
  args: (folder: string) => string[]
}

const generators: Generator[] = [
  {
    name: 'openapi-typescript',
    from: 'openapi-typescript',
    bin: 'bin/cli.js',
    args: (folder) => [DOCUMENT, '--output', join(folder, 'generated.ts')],
  },
  {
    name: 'hey-api',
    from: '@hey-api/openapi-ts',
    bin: 'bin/run.js',
    args: (folder) => ['--input', DOCUMENT, '--output', join(folder, 'generated'), '--no-log-file'],
  },
  {
    name: 'orval',
    from: 'orval',
    bin: 'dist/bin/orval.mjs',
    args: (folder) => ['--config', orvalConfig(folder)],
  },
]

function orvalConfig (folder: string): string {
  const file = join(folder, 'orval.config.mjs')
  const output = { target: join(folder, 'generated/client.ts'), client: 'fetch', mode: 'split' }
  writeFileSync(file, `export default ${JSON.stringify({ gateway: { input: DOCUMENT, output } })}\n`)
  return file
}

function programOf ({ from, bin }: Generator): string {
  if (from === 'openapi-typescript') {
    // The package lists no file of its own but those for import.
    return join(dirname(createRequire(import.meta.url).resolve('openapi-typescript/package.json')), bin)
  }
  return resolve(INSTALLED ?? '', 'node_modules', from, bin)
}

/** The problems that the compiler finds in a file and all that it imports. */
function problemsOf (file: string): string[] {
  return ts.getPreEmitDiagnostics(ts.createProgram([file], OPTIONS)).map(({ messageText, file: source, start = 0 }) => {
    const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line + 1
    return `${source?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

for (const generator of generators) {
  const { name } = generator
  const skip = name !== 'openapi-typescript' && INSTALLED === undefined && 'TEST_GENERATORS is not set'
  t.test(`${name}: correct uses of the generated code compile and wrong ones do not; it accepts ` +
    'the document', { skip }, async (t) => {
    const folder = t.testdir()
    const { status, stdout, stderr } = spawnSync(process.execPath, [programOf(generator), ...generator.args(folder)], {
      cwd: folder, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' },
    })
    t.equal(status, 0, stdout + stderr)
    t.notMatch(stdout + stderr, /warn|error|deprecat|invalid|unsupported|⚠|✖/i)
    const uses = join(folder, 'uses.ts')
    mkdirSync(folder, { recursive: true })
    copyFileSync(new URL(`uses/${name}.ts`, import.meta.url), uses)
    // Each wrong use in the file is marked as one: it is an error there when it compiles.
    t.strictSame(problemsOf(uses), [])
    t.ok(readFileSync(uses, 'utf8').split('@ts-expect-error').length > 7)
  })
}
