import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import t from 'tap'
import ts from 'typescript'
import { gateway } from './gateway.js'

const CLIENT = fileURLToPath(new URL('../src/index.ts', import.meta.url))
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
/** Those of the adapters are compiled where their frameworks are: scripts/test-frameworks.mjs. */
const EXAMPLES = [...README.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!)
  .filter((code) => !code.includes("'memory-gateway-client/"))

/** Runs an example as a newcomer would, with a gateway at another address. @returns what it writes */
async function run (folder: string, example: string, url: string): Promise<string> {
  const outfile = join(folder, 'example.mjs')
  await build({
    stdin: { contents: example.replace('http://127.0.0.1:8080', url), loader: 'ts', resolveDir: folder },
    alias: { 'memory-gateway-client': CLIENT },
    bundle: true,
    format: 'esm',
    outfile,
  })
  return (await promisify(execFile)(process.execPath, [outfile])).stdout
}

t.test('the agent of the README remembers, and its streams run', async (t) => {
  const { url } = await gateway(t)
  const [agent, conversation, , , streams] = EXAMPLES as [string, string, string, string, string]
  t.match(await run(t.testdir(), agent, url), /Known about the user:\n- The user said: I am allergic to peanuts\./)
  t.equal(await run(t.testdir(), conversation, url), '1\n[ \'Since when?\', \'Since May.\' ]\n')
  const written = await run(t.testdir(), streams, url)
  t.match(written, /^from \d memories:\n/)
  t.match(written, /T.*Z The user said: May I eat this peanut bar\?/)
})

t.test('every example of the README compiles', (t) => {
  t.equal(EXAMPLES.length, 5)
  const folder = t.testdir(Object.fromEntries(EXAMPLES.map((code, index) => [`example-${index}.ts`, code])))
  const program = ts.createProgram(EXAMPLES.map((_, index) => join(folder, `example-${index}.ts`)), {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
    paths: { 'memory-gateway-client': [CLIENT] },
  })
  const problems = ts.getPreEmitDiagnostics(program)
  t.same(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')), [])
  t.end()
})
