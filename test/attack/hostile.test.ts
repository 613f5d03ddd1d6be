import t from 'tap'
import { INPUTS } from './inputs/all.js'
import { underProbes, warmUp } from './measure.js'
import { Prober, startControl } from './probing.js'
import { startTarget } from './target.js'

/** Those of the inputs that are over in a moment when nothing is wrong. `npm run attack` runs all of them. */
const QUICK = [
  'batch-empty-items', 'banks-bad', 'memory-ids-bad', 'tags-numbers', 'metadata-bad', 'webhook-tags', 'items-at-the-limit', 'import-tiny',
  'number-infinite', 'foreign-host', 'nested-arrays', 'nested-objects', 'long-fraction', 'duplicate-keys',
]
/**
 * Three probes in a row, each without an answer for 250 ms. Tests run beside this one, so it is more than `npm run
 * attack` allows.
 */
const MOST_WAIT_MS = 260
const RUNS = 3

await t.test('the built server lives through hostile inputs, refuses them, and answers others meanwhile', async (t) => {
  const control = await startControl()
  t.teardown(async () => { await control.stop() })
  const target = await startTarget({ store: 'in_memory', heap: 512, databaseUrl: undefined })
  t.teardown(async () => { await target.stop() })
  const prober = new Prober(target, control)
  t.teardown(async () => { await prober.stop() })
  await warmUp(target)
  for (const name of QUICK) {
    const input = INPUTS.find((known) => known.name === name)!
    let result = await underProbes(target, prober, input)
    for (let run = 1; run < RUNS && result.alive && result.worstMs > MOST_WAIT_MS && result.worstMs < 1000; run++) {
      result = await underProbes(target, prober, input)
    }
    const { alive, badAnswers, faults, worstMs, status } = result
    t.equal(alive, true, `${name}: the process lives`)
    if (!alive) return
    t.strictSame([...badAnswers, ...faults], [], `${name}: ${status}`)
    t.ok(worstMs <= MOST_WAIT_MS, `${name}: no three missed probes in a row`)
  }
})
