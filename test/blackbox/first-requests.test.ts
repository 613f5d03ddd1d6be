import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const module = (path: string): string => JSON.stringify(new URL(`../../${path}`, import.meta.url).href)

/** Records how long each piece of code is that is compiled from a string, and has the packages that are loaded late. */
const RECORDER = `import { createRequire } from 'node:module'
const lengths = []
globalThis.Function = new Proxy(Function, {
  construct (target, parts) {
    lengths.push(parts.at(-1).length)
    return Reflect.construct(target, parts)
  }
})
const late = () => ['chrono-node', 'gpt-tokenizer'].filter((name) => (
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/node_modules/' + name + '/'))
))`

const APP = `${RECORDER}
const { default: fastify } = await import('fastify')
const { default: memoryGateway, loadConfig } = await import(${module('dist/index.js')})
const app = fastify()
await app.register(memoryGateway, { prefix: '/memory', config: loadConfig({}, { file: {} }) })
await app.ready()
const whenReady = late()
await app.listen({ port: 0 })
const whenListening = late()
lengths.length = 0
const statuses = []
for (const payload of [{ mission: 'Be brief.' }, { missio: 'Be brief.' }]) {
  const { statusCode } = await app.inject({ method: 'PUT', url: '/memory/v1/banks/notes/config', payload })
  statuses.push(statusCode)
}
console.log(JSON.stringify({ whenReady, whenListening, statuses, longest: Math.max(...lengths) }))
await app.close()`

const STDIO = `${RECORDER}
const { PassThrough } = await import('node:stream')
const { loadConfig } = await import(${module('dist/index.js')})
const { runMcpStdio } = await import(${module('dist/mcp/stdio.js')})
const config = loadConfig({}, { file: {} })
await runMcpStdio({
  source: 'embedded', version: '0', config, stdin: new PassThrough().end(), stdout: new PassThrough(),
})
console.log(JSON.stringify({ loaded: late() }))`

async function run (source: string): Promise<Record<string, unknown>> {
  const cwd = new URL('../..', import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], { cwd })
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

await t.test('an app that listens has loaded what a first request would wait for; one for tests has not', async (t) => {
  const { longest, ...rest } = await run(APP)
  t.same(rest, {
    whenReady: [], whenListening: ['chrono-node', 'gpt-tokenizer'], statuses: [200, 400],
  })
  // The code that checks the configuration of a bank has more than 100,000 characters and takes 30 ms to compile.
  t.ok(Number(longest) < 60_000, `code of ${String(longest)} characters was compiled for a request`)
})

await t.test('MCP over standard input and output has loaded it before the first call', async (t) => {
  t.same(await run(STDIO), { loaded: ['chrono-node', 'gpt-tokenizer'] })
})
