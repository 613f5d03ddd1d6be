import { Agent, get } from 'node:http'
import { performance } from 'node:perf_hooks'

/*
 * Sends GET /live to each URL of its arguments every 100 ms, whether or not the previous request has been answered. It
 * has a process of its own, so that the client that loads the server does not delay it. It sends a message once all
 * servers have answered. Any message ends it; then it sends its measurements.
 */

const EVERY_MS = 100

const agent = new Agent({ keepAlive: true })
const samples = process.argv.slice(2).map(
  (url) => ({ url: new URL('/live', url), durations: [] as number[], failures: 0 }),
)
let started = false
let waiting = 0
let ending = false

const timer = setInterval(() => { for (const sample of samples) probe(sample) }, EVERY_MS)
process.once('message', () => {
  clearInterval(timer)
  ending = true
  finish()
})

function probe (sample: typeof samples[number]): void {
  const startedAt = performance.now()
  waiting += 1
  const settle = (ok: boolean) => {
    waiting -= 1
    if (ok) sample.durations.push(performance.now() - startedAt)
    else sample.failures += 1
    start()
    finish()
  }
  get(sample.url, { agent }, (incoming) => {
    incoming.resume().on('end', () => { settle(incoming.statusCode === 200) })
  }).on('error', () => { settle(false) })
}

function start (): void {
  if (started || samples.some(({ durations }) => durations.length === 0)) return
  started = true
  for (const { durations } of samples) durations.length = 0
  process.send?.('started')
}

function finish (): void {
  if (!ending || waiting > 0) return
  process.send?.(samples.map(({ durations, failures }) => ({ durations, failures })), () => {
    agent.destroy()
    process.disconnect()
  })
}
