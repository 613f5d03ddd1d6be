import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { runSync, runInTurns, runSyncOrInTurns, type Steps } from '../../../lib/concurrency/steps.js'

function * counting (to: number, seen: number[] = []): Steps<string> {
  for (let count = 1; count <= to; count++) {
    seen.push(count)
    yield
  }
  return `${to} steps`
}

function * failing (): Steps<never> {
  yield
  throw new Error('a step failed')
}

t.test('runSync runs all steps in order and returns the result', async (t) => {
  const seen: number[] = []
  t.equal(runSync(counting(3, seen)), '3 steps')
  t.equal(await runInTurns(counting(2, seen), 'a'), '2 steps')
  t.equal(await runInTurns(counting(0, seen), 'a'), '0 steps')
  t.strictSame(seen, [1, 2, 3, 1, 2])
})

t.test('a step that throws ends the work', async (t) => {
  t.throws(() => runSync(failing()), /a step failed/)
  await t.rejects(runInTurns(failing(), 'a'), /a step failed/)
})

t.test('runInTurns yields to the event loop between long steps', async (t) => {
  function * slow (): Steps<number> {
    for (let step = 0; step < 40; step++) {
      for (const until = performance.now() + 1; performance.now() < until;);
      yield
    }
    return turns
  }
  let turns = 0
  const ended = new AbortController()
  const other = (async () => {
    while (!ended.signal.aborted) {
      turns++
      await setImmediate()
    }
  })()
  const counted = await runInTurns(slow(), 'a')
  ended.abort()
  await other
  t.ok(counted >= 3, `${counted} turns of the event loop during 40 steps`)
})

t.test('runSyncOrInTurns returns the result when all steps fit into the slice, and a promise otherwise', async (t) => {
  const budgetOf = (pieces: number) => {
    let left = pieces
    const asked: string[] = []
    const next = async (caller: string) => {
      asked.push(caller)
      left = pieces
    }
    return { asked, next, get isExhausted () { return left-- <= 0 } }
  }
  const roomy = budgetOf(10)
  t.equal(runSyncOrInTurns(counting(3), 'a', roomy), '3 steps')
  t.strictSame(roomy.asked, [])
  const tight = budgetOf(2)
  const late = runSyncOrInTurns(counting(3), 'a', tight)
  t.type(late, Promise)
  t.equal(await late, '3 steps')
  t.ok(tight.asked.length > 0)
  t.strictSame(new Set(tight.asked), new Set(['a']))
  t.throws(() => runSyncOrInTurns(failing(), 'a', budgetOf(10)), /a step failed/)
  await t.rejects(async () => await runSyncOrInTurns(failing(), 'a', budgetOf(1)), /a step failed/)
})
