import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../helpers/server.js'
import { readPage, runExamples } from './documented.js'

t.test('the examples of the README, copied in order, get the answers that it shows', async (t) => {
  const { url } = await startServer(t)
  await runExamples(t, readPage('README.md'), url, 2)
})

t.test('the examples of the page on the HTTP API get the answers that it shows', async (t) => {
  const { url } = await startServer(t)
  await runExamples(t, readPage('docs/http-api.md'), url, 7)
})

t.test('the examples of the page on changing memories get the answers that it shows', async (t) => {
  const { url } = await startServer(t)
  await runExamples(t, readPage('docs/changing-memories.md'), url, 3)
})

t.test('the examples of the page on the configuration of banks get the answers that it shows', async (t) => {
  const page = readPage('docs/bank-configuration.md')
  const start = /```bash\n(.*?) npm start\n```/.exec(page)?.[1] ?? ''
  t.match(readPage('examples/profiles.yaml'), `# Start: ${start} npm start`)
  const env = Object.fromEntries(start.split(' ').map((pair) => pair.split('=')))
  const { url } = await startServer(t, env, { cwd: fileURLToPath(new URL('../../', import.meta.url)) })
  await runExamples(t, page, url, 11)
})

t.test('the page on dependencies has a line for each of them', async (t) => {
  const { dependencies, optionalDependencies, devDependencies } =
    JSON.parse(readPage('package.json')) as Record<string, Record<string, string>>
  const client = JSON.parse(readPage('packages/client/package.json')) as Record<string, Record<string, string>>

  const page = readPage('docs/dependencies.md')
  for (const name of Object.keys({
    ...dependencies, ...optionalDependencies, ...devDependencies, ...client['devDependencies'],
  })) {
    t.match(page, new RegExp(`(^|[ |])${name.replaceAll('/', '\\/')}([, |]|$| \\()`, 'm'), name)
  }
})
