import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../../bench/percentiles.js'
import { scheduled } from './run-queue.js'

/*
 * Legitimate clients, in a separate process: each requests a recall, waits for the answer, pauses and repeats that. The
 * arguments are the port, the process id of the server, the number of clients, the bank, the principal, and queries as
 * JSON. The rate of requests is low and the same on every machine, so that delays during an attack come from the attack
 * and not from a queue of these clients. The time in which the server or this process was ready to run but had no
 * processor is subtracted, because other programs of the machine caused it. The message `begin` starts a measurement,
 * and `end` ends it and is answered with the figures.
 */

/** The average pause. 500 clients send 125 requests per second, which takes a tenth of a processor. */
const THINK_MS = 4000
const WARM_UP_ROUNDS = 200
const WARM_UP_AT_ONCE = 16

// This process has priority, if the system allows it, so that the clients wait only for the server.
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
    const outgoing = request({
      host: '127.0.0.1',
      port: Number(port),
      path: '/v1/recall',
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        'x-service-principal': principal ?? '',
        'content-length': Buffer.byteLength(body),
      },
    }, (incoming) => {
      incoming.resume().on('close', () => { resolve(incoming.statusCode === 200) })
    })
    outgoing.on('error', () => { resolve(false) })
    outgoing.end(body)
  })
}

/**
 * How long an answer took, less the time in which the server or this process was ready to run and had no processor; but
 * no less than the server has run meanwhile. The system counts what a process has run at clock ticks, up to 10 ms
 * apart, so that count may exceed the time that has passed.
 */
function stopwatch (): () => number {
  const startedAt = performance.now()
  const server = scheduled(Number(pid))
  const own = scheduled(process.pid)
  return () => {
    const { ranMs, queuedMs } = scheduled(Number(pid))
    const queued = queuedMs - server.queuedMs + scheduled(process.pid).queuedMs - own.queuedMs
    const passed = performance.now() - startedAt
    return Math.min(passed, Math.max(ranMs - server.ranMs, passed - queued))
  }
}

async function runClient (): Promise<void> {
  // The clients start at random times, so that they do not all send requests at the same moment.
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

// Several at a time, so that the server has opened its connections to the database.
for (let index = 0; index < WARM_UP_ROUNDS; index++) await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, recall))
for (let index = 0; index < Number(clients); index++) void runClient()
await delay(THINK_MS)
process.send?.('warmed up')
