import { execFile } from 'node:child_process'
import { readFileSync, rmSync, mkdirSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import ts from 'typescript'

const run = promisify(execFile)
const ROOT = process.cwd()
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, unknown>

/** Compiles a project. @returns what is wrong with it */
function compile (folder: string): string[] {
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')), ts.sys, folder,
  )
  // .ci/package, where the package is installed, checks the declarations too, which takes half a minute.
  const program = ts.createProgram(fileNames, { ...options, skipLibCheck: true })
  const faults = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics]
  return faults.map(({ file, messageText }) => (
    `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  ))
}

await t.test('a program compiles strictly against the types of the built package, and runs', async (t) => {
  // Below the package's own folder, where its name leads to what it exports.
  const folder = join(ROOT, '.cache', `consumer-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  cpSync(join(ROOT, '.ci/consumer'), folder, { recursive: true })
  t.same(compile(folder), [])
  const { stdout } = await run(process.execPath, [join(folder, 'consumer.mjs')])
  t.match(stdout, /retained and recalled\n$/)
})

await t.test('no dependency relies on overrides, which have no effect for users of the package', async (t) => {
  t.notOk('overrides' in read('package.json'))
})

await t.test('every package that users get runs on the oldest Node.js that the package names', async (t) => {
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { dev?: boolean, engines?: { node?: string } }>
  }
  const users = Object.entries(packages).filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)
  t.ok(users.length > 100)
  const newer = users.filter(([, { engines }]) => /^>=\s*(2[1-9]|[3-9]\d)/.test(engines?.node ?? ''))
  t.same(newer.map(([path]) => path), [])
})
