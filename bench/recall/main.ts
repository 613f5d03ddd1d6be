import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startGateway, type ChildServer } from '../child-server.js'
import { UnusableInput } from '../checked.js'
import { JsonClient } from '../json-client.js'
import { runBench } from '../run-bench.js'
import { loadConversations } from './conversation.js'
import { measure } from './measure.js'
import { formatReport, makeReport } from './report.js'

const OWN_DATA = fileURLToPath(new URL('own-conversation.json', import.meta.url))
const USAGE = `npm run bench:recall -- [--data FILE] [--json FILE] [--url URL | --store STORE]
  --data FILE   conversations with questions, in the shape of LoCoMo; default: the project's own small one
  --json FILE   also writes the figures there
  --url URL     measures the server that runs there (dev mode) instead of starting the built one
  --store STORE in_memory (the default), pglite (in a temporary folder), or postgres (DATABASE_URL, schema bench_recall)`

/** The built gateway on a store, and what takes away what it leaves. */
async function startOn (store: string): Promise<ChildServer> {
  if (store === 'in_memory') return await startGateway()
  if (store === 'postgres') {
    const url = process.env['DATABASE_URL']
    if (url === undefined) throw new UnusableInput('--store postgres needs DATABASE_URL')
    return await startGateway(JSON.stringify({ vector_store: 'postgres', vector_store_config: { schema: 'bench_recall' } }), { DATABASE_URL: url })
  }
  if (store !== 'pglite') throw new UnusableInput(`--store: found ${store}, allowed are in_memory, pglite and postgres`)
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  const remove = async () => { await rm(folder, { recursive: true, force: true }) }
  try {
    const server = await startGateway(JSON.stringify({ vector_store: 'pglite', vector_store_config: { data_dir: folder } }))
    return { ...server, stop: async () => { await server.stop(); await remove() } }
  } catch (error) {
    await remove()
    throw error
  }
}

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: { data: { type: 'string' }, json: { type: 'string' }, url: { type: 'string' }, store: { type: 'string' } },
  })
  if (values.url !== undefined && values.store !== undefined) throw new UnusableInput('--url and --store exclude each other')
  const path = values.data ?? OWN_DATA
  const conversations = await loadConversations(path)
  const server = values.url === undefined ? await startOn(values.store ?? 'in_memory') : undefined
  const client = new JsonClient(server?.url ?? values.url!)
  try {
    const measurement = await measure(client, conversations, `bench-${Date.now().toString(36)}-`)
    if (measurement.outcomes.length === 0) throw new UnusableInput(`${path} has no question of category 1 to 4 with evidence`)
    const report = makeReport(basename(path), measurement)
    const json = JSON.stringify(report)
    console.log(`${formatReport(report)}\n\n${json}`)
    if (values.json !== undefined) await writeFile(values.json, `${json}\n`)
  } finally {
    client.close()
    await server?.stop()
  }
}, USAGE)
