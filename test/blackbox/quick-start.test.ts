import { execFile } from 'node:child_process'
import {
  cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'

const ROOT = process.cwd()
const ASSETS = [
  'lib/stores/sql/pglite-worker.mjs', 'lib/models/workers/worker.mjs',
  'lib/models/local/use-engine.mjs', 'lib/models/local/use-matrices.mjs', 'lib/models/local/use-model.mjs',
  'lib/models/local/use-tokenizer.mjs', 'lib/models/local/use-weights.mjs', 'lib/models/local/matrices.wasm',
  'lib/models/transformers/engine.mjs',
]

interface Ended {
  code: number
  output: string
}

/** A folder outside the repository, where no package of ours is found by chance. */
function folder (t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'quick-start-'))
  t.teardown(() => { rmSync(path, { recursive: true }) })
  return path
}

async function run (cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(process.execPath, args, {
      cwd, env: { PATH: process.env['PATH'] ?? '', ...env },
    }, (error, stdout, stderr) => {
      resolve({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, output: `${stdout}${stderr}`,
      })
    })
  })
}

/** A working copy in small: the scripts of the build, and a program of one line. */
function workingCopy (t: Test): string {
  const copy = folder(t)
  for (const name of ['scripts/build.mjs', 'scripts/run.mjs', 'tsconfig.build.json', ...ASSETS]) {
    mkdirSync(join(copy, dirname(name)), { recursive: true })
    cpSync(join(ROOT, name), join(copy, name))
  }
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }')
  // Without the declarations of Node.js, which take the compiler longer than all else here.
  writeFileSync(
    join(copy, 'tsconfig.json'),
    '{ "compilerOptions": { "target": "es2023", "lib": ["es2023"], "module": "nodenext", "types": [], ' +
      '"noEmit": true } }',
  )
  writeProgram(copy, 'first')
  return copy
}

const GLOBALS = 'declare const console: { log (...texts: string[]): void }\ndeclare const process: { argv: string[] }\n'
let seconds = 0

/** Each time is later than the one before, whatever the resolution of the file system is. */
function writeProgram (copy: string, said: string): void {
  const path = join(copy, 'server.ts')
  writeFileSync(
    path,
    `${GLOBALS}const said: string = '${said}'\nconsole.log(said, process.argv.slice(1).map((text) => ` +
      'text.split(\'/\').at(-1)).join(\' \'))\n',
  )
  utimesSync(path, ++seconds, seconds)
}

t.test('a working copy is built once, again after a change, and not otherwise', async (t) => {
  const copy = workingCopy(t)
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const start = async () => await run(copy, ['scripts/run.mjs', 'server.js', '--flag'])
  t.same(await start(), { code: 0, output: 'first server.js --flag\nbuild: dist/ is built\n' })
  t.same(await start(), { code: 0, output: 'first server.js --flag\n' })
  writeProgram(copy, 'second')
  t.same(await start(), {
    code: 0, output: 'second server.js --flag\nbuild: dist/ is older than its sources and is built again\n',
  })
  rmSync(join(copy, 'dist'), { recursive: true })
  t.equal((await start()).code, 0, 'a removed dist/ is built again')
  for (const asset of ASSETS) t.same(readFileSync(join(copy, 'dist', asset)), readFileSync(join(ROOT, asset)), asset)
  writeFileSync(join(copy, 'server.ts'), 'export const said: number = "text"\n')
  for (const time of ['the first', 'the second']) {
    t.match(await start(), { code: 1, output: /error TS2322/ }, `what does not compile does not start, ${time} time`)
  }
})

t.test('without the compiler an existing dist/ is used unchanged, and a missing one is reported', async (t) => {
  const copy = workingCopy(t)
  const prepare = (JSON.parse(readFileSync(
    join(ROOT, 'package.json'), 'utf8',
  )) as { scripts: { prepare: string } }).scripts.prepare
  const script = /^node -e "(.*)"$/.exec(prepare)?.[1] ?? ''
  t.match(
    await run(copy, ['-e', script]), { code: 0, output: 'build: TypeScript is not installed, so dist/ is not built' },
    'an installation for production succeeds',
  )
  const refused = await run(copy, ['scripts/run.mjs', 'server.js'])
  t.match(refused, {
    code: 1,
    output: 'build: there is no dist/, and TypeScript, which builds it, is not installed. Run `npm ci` ' +
      'without --omit=dev',
  })
  t.notMatch(refused.output, /\n {4}at /, 'the message has no stack')
  mkdirSync(join(copy, 'dist'))
  writeFileSync(join(copy, 'dist/server.js'), 'console.log("brought along")\n')
  t.same(await run(copy, ['-e', script]), { code: 0, output: '' })
  t.same(await run(copy, ['scripts/run.mjs', 'server.js']), { code: 0, output: 'brought along\n' })
  t.same(
    await run(folder(t), ['-e', script]), { code: 0, output: '' },
    'where there is only a package.json, as in the first layer of an image, nothing is built',
  )
})

t.test('optional packages may be missing, and a configuration that needs one names it', async (t) => {
  const image = folder(t)
  for (const name of ['package.json', 'migrations']) symlinkSync(join(ROOT, name), join(image, name))
  cpSync(join(ROOT, 'dist'), join(image, 'dist'), { recursive: true })
  const { optionalDependencies } = JSON.parse(readFileSync(
    join(ROOT, 'package.json'), 'utf8',
  )) as { optionalDependencies: Record<string, string> }
  const missing = new Set(Object.keys(optionalDependencies))
  for (const name of readdirSync(join(ROOT, 'node_modules')).flatMap((name) => (
    name.startsWith('@') ? readdirSync(join(ROOT, 'node_modules', name)).map((below) => `${name}/${below}`) : [name]
  ))) {
    if (missing.has(name)) continue
    mkdirSync(join(image, 'node_modules', dirname(name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(image, 'node_modules', name))
  }
  const MODEL_PACKAGES = '@ai-sdk/openai-compatible @ai-sdk/provider zod @ai-sdk/anthropic'
  const TRACING_PACKAGES = '@opentelemetry/sdk-trace-node @opentelemetry/resources ' +
    '@opentelemetry/exporter-trace-otlp-http'
  const NEEDED = 'needs packages that are not installed: npm install'
  const refusals: Array<[yaml: string, env: Record<string, string>, said: RegExp]> = [
    [
      'llm_provider: openai_compatible\nllm_provider_config: { base_url: "http://127.0.0.1:9", model: m }\n', {},
      new RegExp(String.raw`^llm_provider: openai_compatible ${NEEDED} ${MODEL_PACKAGES}\n$`, 'm'),
    ],
    [
      'llm_provider: anthropic\nllm_provider_config: { api_key_env: KEY, model: m }\n', { KEY: 'k' },
      new RegExp(String.raw`^llm_provider: anthropic ${NEEDED} ${MODEL_PACKAGES}\n$`, 'm'),
    ],
    [
      '{}\n', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
      new RegExp(String.raw`OTEL_EXPORTER_OTLP_ENDPOINT ${NEEDED} ${TRACING_PACKAGES}\n$`),
    ],
    [
      `vector_store: pglite\nvector_store_config: { data_dir: ${JSON.stringify(join(image, 'data'))} }\n`, {},
      /vector_store: pglite needs the packages @electric-sql\/pglite and @electric-sql\/pglite-pgvector/,
    ],
  ]
  for (const [yaml, env, said] of refusals) {
    writeFileSync(join(image, 'config.yaml'), yaml)
    t.match(
      await run(image, ['dist/server.js'], { ...env, SERVICES_PORT: '0', SERVICES_CONFIG_PATH: 'config.yaml' }),
      { code: 1, output: said }, yaml,
    )
  }
})
