import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../bench/free-port.js'
import { runCli, spawnCli } from '../helpers/cli.js'
import { startServer } from '../helpers/server.js'

const MEMORIES = 12_000
const HEADER = '{"format":"memory-gateway-export","version":1}'

t.test('an import goes on after the server was killed in the middle, and stores each memory once', async (t) => {
  const folder = t.testdir({
    'config.yaml': JSON.stringify({
      vector_store: 'pglite', vector_store_config: { data_dir: 'data' }, embedding_provider: 'mock',
    }),
  })
  const file = join(folder, 'facts.ndjson')
  const texts = Array.from({ length: MEMORIES }, (_, number) => `Fact number ${number} is known.`)
  writeFileSync(file, [HEADER, ...texts.map((text) => JSON.stringify({ text }))].join('\n'))
  const port = String(await freePort())
  const start = async () => await startServer(
    t, { SERVICES_PORT: port, SERVICES_CONFIG_PATH: 'config.yaml' }, { cwd: folder },
  )
  const env = { MEMORY_GATEWAY_URL: `http://127.0.0.1:${port}` }
  const first = await start()
  const running = spawnCli(['import', 'facts', file], { env })
  const begun = new Promise<boolean>((resolve) => {
    running.process.stderr?.on('data', (data: Buffer) => { if (data.includes('memories/s')) resolve(true) })
  })
  t.ok(await Promise.race([begun, running.result.then(() => false)]), 'a part is stored')
  first.process.kill('SIGKILL')
  await first.ended
  const { code, stderr } = await running.result
  t.not(code, 0)
  t.match(stderr, /\n\d+ imported, 0 already stored or expired before the error; the same command continues from here/)

  await start()
  const second = await runCli(['import', 'facts', file, '--json'], { env })
  t.equal(second.code, 0, second.stderr)
  const { imported, skipped } = JSON.parse(second.stdout)
  t.equal(imported + skipped, MEMORIES)
  t.ok(skipped >= 5000, `${skipped} were there`)
  const stored = (await runCli(['export', 'facts'], { env })).stdout.trim().split('\n').slice(1)
  t.same(stored.map((line) => String(JSON.parse(line).text)).sort(), [...texts].sort())
})
