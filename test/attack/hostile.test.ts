import t from 'tap'
import { INPUTS } from './inputs/all.js'
import { runWithProbes, warmUp } from './measure.js'
import { Prober, startIdleServer } from './probes.js'
import { startTarget } from './target.js'

/** The inputs that end quickly without a fault. `npm run attack` runs all inputs. */
const QUICK = [
  'batch-empty-items', 'banks-bad', 'memory-ids-bad', 'tags-numbers', 'metadata-bad', 'webhook-tags',
  'items-at-the-limit', 'import-tiny',
  'number-infinite', 'foreign-host', 'nested-arrays', 'nested-objects', 'long-fraction', 'duplicate-keys',
]
/**
 * The time in which three probes in a row have no answer. Other tests run at the same time, so it is longer than `npm
 * run attack` allows.
 */
const MAX_WAIT_MS = 260
const RUNS = 3

await t.test('the built server survives hostile inputs, refuses them, and answers other ' +
  'requests meanwhile', async (t) => {
  const idleServer = await startIdleServer()
  t.teardown(async () => { await idleServer.stop() })
  const target = await startTarget({ store: 'in_memory', heap: 512, databaseUrl: undefined })
  t.teardown(async () => { await target.stop() })
  const prober = new Prober(target, idleServer)
  t.teardown(async () => { await prober.stop() })
  await warmUp(target)
  for (const name of QUICK) {
    const input = INPUTS.find((known) => known.name === name)!
    let result = await runWithProbes(target, prober, input)
    for (let run = 1; run < RUNS && result.alive && result.worstMs > MAX_WAIT_MS && result.worstMs < 1000; run++) {
      result = await runWithProbes(target, prober, input)
    }
    const { alive, badAnswers, faults, worstMs, status } = result
    t.equal(alive, true, `${name}: the process is running`)
    if (!alive) return
    t.strictSame([...badAnswers, ...faults], [], `${name}: ${status}`)
    t.ok(worstMs <= MAX_WAIT_MS, `${name}: no three missed probes in a row`)
  }
})
