/**
 * Prints the files of lib in which a function runs during a retain and during a recall with default settings, as
 * measured by the precise coverage of V8. The store is in memory, and both operations have run before, so one-time
 * initialization is not counted.
 */
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import { buildApp } from '../app.js'
import { loadConfig } from '../lib/config/load.js'

const LIB = fileURLToPath(new URL('../lib/', import.meta.url))
const OPERATIONS = [
  {
    name: 'retain',
    url: '/v1/retain',
    body: { bank_id: 'user-ann', content: 'Ann moved to Porto in March because of her new job.' },
  },
  { name: 'recall', url: '/v1/recall', body: { bank_id: 'user-ann', query: 'Where did Ann move?' } },
]

const app = await buildApp(loadConfig({ SERVICE_AUTH_MODE: 'dev' }))
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

async function call ({ url, body }: typeof OPERATIONS[number]): Promise<void> {
  const { statusCode, payload } = await app.inject({
    method: 'POST', url, headers: { 'x-service-principal': 'user:ann', host: 'localhost' }, payload: body,
  })
  if (statusCode >= 300) throw new Error(`${url} answered ${statusCode}: ${payload}`)
}

for (const operation of OPERATIONS) {
  await call(operation)
  await call(operation)
  await session.post('Profiler.takePreciseCoverage')
  await call(operation)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = result
    .filter(({ url, functions }) => (
      url.startsWith(`file://${LIB}`) && functions.some(({ functionName, ranges }) => (
        functionName !== '' && ranges[0]!.count > 0
      ))
    ))
    .map(({ url }) => fileURLToPath(url).slice(LIB.length))
    .sort()
  console.log(`${operation.name}: ${files.length} files of lib\n${files.map((file) => `  ${file}`).join('\n')}`)
}
await app.close()
