import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startGateway } from '../child-server.js'
import { JsonClient } from '../json-client.js'
import { summarize } from '../percentiles.js'
import { runBench } from '../run-bench.js'
import { numberArgument, type ClientFigures } from './figures.js'
import { MemoryWatch } from './memory.js'

const CLIENTS = fileURLToPath(new URL('clients.ts', import.meta.url))
const USAGE = 'npm run bench:mcp -- [--clients 64] [--seconds 60] [--collect-every 10]'
const MEMORIES = 1000
const PROBE_EVERY_MS = 20

/**
 * Measures clients of the Model Context Protocol on an in-memory gateway, the latency of /live and the memory of the
 * process.
 */
await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      clients: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '60' },
      'collect-every': { type: 'string', default: '10' },
    },
  })
  const seconds = numberArgument(values.seconds)
  const collectEvery = numberArgument(values['collect-every'])
  const watch = await MemoryWatch.open()
  const gateway = await startGateway(
    'vector_store: in_memory\nembedding_provider: mock\n', {}, 'ignore', watch.nodeOptions,
  )
  const client = new JsonClient(gateway.url)
  try {
    const items = Array.from({ length: MEMORIES }, (_, index) => (
      { content: `The harbour of town ${index} has ${index % 100} boats that carry tea to the islands in spring.` }
    ))
    await client.post('/v1/retain/batch', { bank_id: 'bench', items })
    const stop = new AbortController()
    const live = probe(`${gateway.url}/live`, stop.signal)
    const memory = watch.run(gateway.pid, collectEvery, stop.signal)
    const clients = await runClients(gateway.url, String(numberArgument(values.clients)), String(seconds))
    stop.abort()
    console.log(JSON.stringify({
      bench: 'mcp',
      clients: Number(values.clients),
      seconds,
      calls_per_second: Math.round(clients.calls / seconds),
      ...clients,
      live: await live,
      ...await memory,
    }, undefined, 2))
    if (Object.keys(clients.errors).length > 0) process.exitCode = 1
  } finally {
    client.close()
    await gateway.stop()
    await watch.close()
  }
}, USAGE)

async function runClients (...args: string[]): Promise<ClientFigures> {
  const child = spawn(process.execPath, ['--import', 'tsx', CLIENTS, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => { output += data.toString() })
  const [code]: Array<number | null> = await once(child, 'close')
  if (code !== 0) throw new Error(`the clients ended with ${code}`)
  return JSON.parse(output) as ClientFigures
}

async function probe (url: string, signal: AbortSignal) {
  const durations: number[] = []
  while (!signal.aborted) {
    const begun = performance.now()
    const response = await fetch(url)
    await response.arrayBuffer()
    durations.push(performance.now() - begun)
    await delay(PROBE_EVERY_MS)
  }
  return { probes: durations.length, ...summarize(durations), max: Math.max(...durations) }
}
