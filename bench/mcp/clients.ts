import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { performance } from 'node:perf_hooks'
import { summarize } from '../percentiles.js'
import { numberArgument, type ClientFigures } from './figures.js'

/*
 * Many clients of the official SDK, half of each kind of revision, that call tools one after the other until the time
 * is over. They run in a process of their own, so that their work does not delay the measurement. Prints ClientFigures
 * as JSON.
 */
const [url = '', clientCount, seconds] = process.argv.slice(2)
const until = performance.now() + numberArgument(seconds) * 1000
const durations: number[] = []
const errors = new Map<string, number>()

await Promise.all(Array.from({ length: numberArgument(clientCount) }, (_, index) => runClient(index)))

const figures: ClientFigures = {
  calls: durations.length,
  errors: Object.fromEntries(errors),
  latency: summarize(durations),
}
console.log(JSON.stringify(figures))

async function runClient (index: number): Promise<void> {
  const client = new Client({ name: `bench-${index}`, version: '1.0.0' }, {
    versionNegotiation: { mode: index % 2 === 0 ? { pin: '2026-07-28' } : 'legacy' },
  })
  try {
    const requestInit = { headers: { 'x-service-principal': `user:bench-${index}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }))
    for (let round = 0; performance.now() < until; round++) await call(client, index, round)
    await client.close()
  } catch (error) {
    count(error instanceof Error ? error.message : String(error))
  }
}

async function call (client: Client, index: number, round: number): Promise<void> {
  const begun = performance.now()
  const { isError, content } = await client.callTool(callOf(index, round))
  durations.push(performance.now() - begun)
  if (isError === true) count(JSON.stringify(content).slice(0, 200))
}

/**
 * Of ten calls, six search, one stores, one answers, one lists and one deletes what was stored, so that the bank does
 * not grow and what the gateway holds can be compared.
 */
function callOf (index: number, round: number): { name: string, arguments: Record<string, unknown> } {
  const bank = { bank_id: 'bench' }
  const tags = [`client-${index}`]
  switch (round % 10) {
    case 0: {
      const content = `Client ${index} notes in round ${round} that tea is hot.`
      return { name: 'retain', arguments: { ...bank, content, tags } }
    }
    case 9: return { name: 'forget', arguments: { ...bank, tags } }
    case 3: return { name: 'reflect', arguments: { ...bank, query: `Which town has ${round % 100} boats?` } }
    case 6: return { name: 'list_banks', arguments: {} }
    default: return { name: 'recall', arguments: { ...bank, query: `boats in the harbour of town ${round % 100}` } }
  }
}

function count (error: string): void {
  errors.set(error, (errors.get(error) ?? 0) + 1)
}
