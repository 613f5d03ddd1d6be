import t from 'tap'
import { HealthProbe } from '../../../lib/operations/health.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import type { StoreHealth } from '../../../lib/stores/vector-store.js'

/** Long enough to never pass in a test. */
const PATIENCE = 60_000

interface Bench {
  probe: HealthProbe
  asked: () => number
}

/** A probe of a store whose health is what `answer` says; each look at the timer takes 7 ms. */
function bench (answer: () => Promise<StoreHealth>): Bench {
  let asked = 0
  let now = 100
  class Store extends InMemoryVectorStore {
    override async health (): Promise<StoreHealth> {
      asked++
      return await answer()
    }
  }
  return { probe: new HealthProbe(new Store(), () => { now += 7; return now }), asked: () => asked }
}

function deferred () {
  let resolve!: (health: StoreHealth) => void
  const promise = new Promise<StoreHealth>((_resolve) => { resolve = _resolve })
  return { promise, resolve }
}

t.test('a store that reports success is ok, with the duration of the probe', async (t) => {
  const { probe } = bench(async () => ({ healthy: true }))
  t.strictSame(await probe.check(PATIENCE), { status: 'ok', latencyMs: 7 })
})

t.test('a store that reports a failure is down, and its message is the cause', async (t) => {
  const { probe } = bench(async () => ({ healthy: false, message: 'no disk' }))
  t.strictSame(await probe.check(PATIENCE), { status: 'failed', reason: 'unhealthy', cause: 'no disk' })
})

t.test('a store that throws or rejects is down, and its error is the cause', async (t) => {
  const error = new Error('ECONNREFUSED')
  t.strictSame(await bench(async () => { throw error }).probe.check(PATIENCE), {
    status: 'failed', reason: 'error', cause: error,
  })
  t.strictSame(await bench(() => { throw error }).probe.check(PATIENCE), {
    status: 'failed', reason: 'error', cause: error,
  })
})

t.test('a store with an unusable answer is down', async (t) => {
  const { probe } = bench(async () => undefined as unknown as StoreHealth)
  t.match(await probe.check(PATIENCE), { status: 'failed', reason: 'error' })
})

t.test('a store that does not answer is down when the time is up', async (t) => {
  const { probe } = bench(async () => await new Promise(() => {}))
  t.strictSame(await probe.check(1), { status: 'failed', reason: 'timeout' })
})

t.test('simultaneous probes ask the store once', async (t) => {
  const { promise, resolve } = deferred()
  const { probe, asked } = bench(async () => await promise)
  const checks = [probe.check(PATIENCE), probe.check(PATIENCE), probe.check(PATIENCE)]
  resolve({ healthy: true })
  for (const check of await Promise.all(checks)) t.equal(check.status, 'ok')
  t.equal(asked(), 1)
})

t.test('a probe that is never answered does not hide that the store is back', async (t) => {
  const answers = [new Promise<StoreHealth>(() => {}), Promise.resolve({ healthy: true })]
  const { probe, asked } = bench(async () => await answers[asked() - 1]!)
  t.match(await probe.check(1), { reason: 'timeout' })
  t.match(await probe.check(PATIENCE), { status: 'ok' })
})

t.test('an answer that comes too late does not end the probe after it', async (t) => {
  const [late, next] = [deferred(), deferred()]
  const { probe, asked } = bench(async () => await [late, next][asked() - 1]!.promise)
  t.match(await probe.check(1), { reason: 'timeout' })
  const second = probe.check(PATIENCE)
  late.resolve({ healthy: true })
  await late.promise
  await new Promise((resolve) => { setImmediate(resolve) })
  const third = probe.check(PATIENCE)
  next.resolve({ healthy: false })
  for (const check of await Promise.all([second, third])) t.match(check, { reason: 'unhealthy' })
  t.equal(asked(), 2, 'the third shares the probe of the second')
})

t.test('each probe asks the store again after the last one has ended', async (t) => {
  const answers = [true, false, true]
  const { probe, asked } = bench(async () => ({ healthy: answers[asked() - 1]! }))
  const found: string[] = []
  for (let round = 0; round < 3; round++) found.push((await probe.check(PATIENCE)).status)
  t.strictSame(found, ['ok', 'failed', 'ok'])
})
