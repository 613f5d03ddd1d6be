import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../helpers/server.js'
import { readPage, runExamples } from './documented.js'

const README = readPage('README.md')

t.test('the README\'s examples, copied in order, answer what it shows', async (t) => {
  const { url } = await startServer(t)
  await runExamples(t, README, url, 6)
})

t.test('the examples of the page on the configuration of banks do so too', async (t) => {
  const page = readPage('docs/bank-configuration.md')
  const start = /```bash\n(.*?) npm start\n```/.exec(page)?.[1] ?? ''
  t.match(readPage('examples/profiles.yaml'), `# Start: ${start} npm start`)
  const env = Object.fromEntries(start.split(' ').map((pair) => pair.split('=')))
  const { url } = await startServer(t, env, { cwd: fileURLToPath(new URL('../../', import.meta.url)) })
  await runExamples(t, page, url, 11)
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
