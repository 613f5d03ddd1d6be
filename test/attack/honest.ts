import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../../bench/percentiles.js'
import { scheduled } from './run-queue.js'

/*
 * Well-behaved clients, in a process of their own: each asks for a recall, waits for the answer, thinks, and asks
 * again. Arguments: the port, the process of the server, how many they are, the bank, the principal, and queries as
 * JSON. They ask at the same modest rate on every machine, so that what is measured beside an attacker is the
 * attacker's doing and not a queue of their own. The time in which the server or this process was ready to run and had
 * no processor is taken off: other programs of the machine had it. The message `begin` starts a measurement, `end` ends
 * it and is answered with the figures.
 */

/** On average. 500 clients ask 125 times a second, which takes a tenth of a processor. */
const THINK_MS = 4000
const WARM_UP = 200

// What they wait for is the server, and no processor of their own, where the system lets them ask for that.
try { setPriority(-10) } catch { /* Not allowed. */ }

const [port, pid, clients, bank, principal, queriesText] = process.argv.slice(2)
const queries: unknown = JSON.parse(queriesText ?? '[]')
const bodies = (Array.isArray(queries) ? queries : []).map((query: unknown) => JSON.stringify({
  bank_id: bank, query, max_results: 10,
}))
const agent = new Agent({ keepAlive: true })

let durations: number[] = []
let refused = 0
let asked = 0

async function recall (): Promise<boolean> {
  const body = bodies[asked++ % bodies.length] ?? '{}'
  return await new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port: Number(port), path: '/v1/recall', method: 'POST', agent, headers: { 'content-type': 'application/json', 'x-service-principal': principal ?? '', 'content-length': Buffer.byteLength(body) } }, (incoming) => {
      incoming.resume().on('close', () => { resolve(incoming.statusCode === 200) })
    })
    outgoing.on('error', () => { resolve(false) })
    outgoing.end(body)
  })
}

/**
 * How long an answer took, less the time in which the server or this process was ready to run and had no processor; but
 * no less than the server has run meanwhile.
 */
function stopwatch (): () => number {
  const startedAt = performance.now()
  const server = scheduled(Number(pid))
  const own = scheduled(process.pid)
  return () => {
    const { ranMs, queuedMs } = scheduled(Number(pid))
    const queued = queuedMs - server.queuedMs + scheduled(process.pid).queuedMs - own.queuedMs
    return Math.max(ranMs - server.ranMs, performance.now() - startedAt - queued)
  }
}

async function behave (): Promise<void> {
  // All over the first round, and evenly after it, so that clients do not all ask at the same moment.
  await delay(Math.random() * THINK_MS)
  while (process.connected) {
    const waited = stopwatch()
    const ok = await recall()
    durations.push(waited())
    if (!ok) refused += 1
    await delay(THINK_MS * (0.5 + Math.random()))
  }
}

process.on('message', (message) => {
  if (message === 'begin') {
    durations = []
    refused = 0
    process.send?.('begun')
  } else if (message === 'end') {
    const sorted = durations.toSorted((a, b) => a - b)
    process.send?.({
      answers: sorted.length,
      refused,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      max: sorted.at(-1) ?? 0,
    })
  }
})
process.on('disconnect', () => { process.exit(0) })

for (let index = 0; index < WARM_UP; index++) await recall()
for (let index = 0; index < Number(clients); index++) void behave()
await delay(THINK_MS)
process.send?.('all have asked')
