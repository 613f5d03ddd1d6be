// Tests the adapters with frameworks that want a newer Node.js than the gateway does. They are installed apart, in
// .cache/agent-frameworks, and the client as its package has it: its types and its subpaths are tested with it.
//   node packages/client/scripts/test-frameworks.mjs     on Node.js 22.18 or newer, after `npm run build`
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CLIENT = `${ROOT}packages/client`
const PLACE = `${ROOT}.cache/agent-frameworks`
const MANIFEST = JSON.stringify({
  private: true,
  type: 'module',
  dependencies: {
    '@ai-sdk/openai': '4.0.118',
    '@langchain/core': '1.4.0',
    '@langchain/openai': '1.6.0',
    '@mastra/core': '1.71.0',
    '@openai/agents': '0.20.0',
    ai: '7.0.173',
    langchain: '1.5.14',
    zod: '4.6.7',
  },
}, null, 2)

function run (command, args, cwd = PLACE) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function installFrameworks () {
  const stamp = `${PLACE}/node_modules/.installed`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === MANIFEST) return
  rmSync(PLACE, { recursive: true, force: true })
  mkdirSync(PLACE, { recursive: true })
  writeFileSync(`${PLACE}/package.json`, MANIFEST)
  run('npm', ['install', '--engine-strict', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'])
  writeFileSync(stamp, MANIFEST)
}

/** As npm would unpack it. */
function installClient () {
  const installed = `${PLACE}/node_modules/memory-gateway-client`
  rmSync(installed, { recursive: true, force: true })
  mkdirSync(installed, { recursive: true })
  run('npm', ['pack', '--silent', '--pack-destination', PLACE], CLIENT)
  const { name, version } = JSON.parse(readFileSync(`${CLIENT}/package.json`, 'utf8'))
  run('tar', ['-xzf', `${name}-${version}.tgz`, '-C', installed, '--strip-components=1'])
}

function copySources () {
  for (const [from, to] of [
    [`${CLIENT}/src`, 'src'], [`${CLIENT}/frameworks`, 'frameworks'], [`${ROOT}examples/agents`, 'examples'],
  ]) {
    rmSync(`${PLACE}/${to}`, { recursive: true, force: true })
    cpSync(from, `${PLACE}/${to}`, { recursive: true })
  }
  // What the README shows of the adapters.
  const readme = readFileSync(`${CLIENT}/README.md`, 'utf8')
  const shown = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)
    .filter((code) => code.includes("'memory-gateway-client/"))
  rmSync(`${PLACE}/readme`, { recursive: true, force: true })
  mkdirSync(`${PLACE}/readme`)
  cpSync(`${PLACE}/examples/tsconfig.json`, `${PLACE}/readme/tsconfig.json`)
  for (const [index, code] of shown.entries()) writeFileSync(`${PLACE}/readme/${index}.ts`, code)
  const compilerOptions = { noEmit: true, types: [] }
  // The adapters against the types of the real packages, as strictly as they are built.
  writeFileSync(`${PLACE}/tsconfig.json`, JSON.stringify({
    extends: `${CLIENT}/tsconfig.json`, compilerOptions, include: ['src'],
  }))
}

installFrameworks()
installClient()
copySources()
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
for (const project of ['.', 'frameworks', 'examples', 'readme']) run(process.execPath, [tsc, '-p', project])
run(process.execPath, ['--test', '--test-concurrency=2', '--test-timeout=120000', 'frameworks/*.check.ts'])
