import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../helpers/server.js'

const run = promisify(execFile)
const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')

/** Every curl of the README with the answer that it promises, in order. */
const examples = [...README.matchAll(/```sh\n(curl .*?)\n```\n```json\n(.*?)\n```/gs)].map(([, command, answer]) => ({ command: command!, answer: JSON.parse(answer!) as unknown }))

/** An answer as the README shows it: what differs from run to run stands there as "…". */
function likeShown (shown: unknown, real: unknown): unknown {
  if (shown === '…') return real === undefined ? undefined : '…'
  if (Array.isArray(shown) && Array.isArray(real)) return real.map((value, index) => likeShown(shown[index], value))
  if (typeof shown === 'object' && shown !== null && typeof real === 'object' && real !== null) {
    return Object.fromEntries(Object.entries(real).map(([key, value]) => [key, likeShown((shown as Record<string, unknown>)[key], value)]))
  }
  return real
}

t.test('the README\'s examples, copied in order, answer what it shows', async (t) => {
  t.ok(examples.length >= 6, 'there are examples')
  const server = await startServer(t)
  for (const { command, answer } of examples) {
    const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8080', server.url)])
    t.strictSame(likeShown(answer, JSON.parse(stdout)), answer, command)
  }
})

t.test('every file that the README links to is there', async (t) => {
  for (const [, link] of README.matchAll(/\]\(([^)#:]+)\)/g)) {
    t.doesNotThrow(() => readFileSync(fileURLToPath(new URL(`../../${link}`, import.meta.url))), String(link))
  }
})

t.test('the README\'s table has a line for every dependency', async (t) => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8')) as Record<string, Record<string, string>>
  const section = README.slice(README.indexOf('### Dependencies'))
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })) {
    if (name !== '@types/node') t.match(section, new RegExp(`(^|[ |])${name.replaceAll('/', '\\/')}([, |]|$| \\()`, 'm'), name)
  }
})
