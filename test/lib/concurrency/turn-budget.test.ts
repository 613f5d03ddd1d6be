import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { mapInTurns, chargedToRunningCaller, TurnBudget } from '../../../lib/concurrency/turn-budget.js'

/** A budget on a clock that only `spend` moves. */
function budget (sliceMs = 8): { turns: TurnBudget, spend: (ms: number) => void } {
  let now = 0
  return { turns: new TurnBudget({ sliceMs, timer: () => now }), spend: (ms) => { now += ms } }
}

t.test('a turn has no time left after its slice, and the next turn has time again', async (t) => {
  const { turns, spend } = budget()
  t.notOk(turns.isExhausted, 'nothing was done')
  spend(7)
  t.notOk(turns.isExhausted)
  spend(1)
  t.ok(turns.isExhausted)
  await setImmediate()
  t.notOk(turns.isExhausted, 'another turn')
})

t.test('the first turn after an idle period has up to two slices, and no more', async (t) => {
  const { turns, spend } = budget()
  t.notOk(turns.isExhausted)
  await setImmediate()
  spend(8)
  t.notOk(turns.isExhausted, 'the time may have gone by between two turns')
  spend(8)
  t.ok(turns.isExhausted)
  await setImmediate()
  t.notOk(turns.isExhausted)
})

t.test('one turn resumes as many tasks as fit into its slice, however many wait', async (t) => {
  const { turns, spend } = budget()
  const begun: number[] = []
  const all = Promise.all(Array.from({ length: 10 }, async (_, number) => {
    await turns.next('alice')
    begun.push(number)
    spend(3)
  }))
  const counts: number[] = []
  for (let turn = 0; turn < 5; turn++) {
    await setImmediate()
    counts.push(begun.length)
  }
  t.strictSame(counts, [3, 6, 9, 10, 10])
  await all
  t.strictSame(begun, Array.from({ length: 10 }, (_, number) => number), 'first come, first served')
})

t.test('a slice is as long as what the loop did between two slices, and a task in it has no more time', async (t) => {
  const { turns, spend } = budget(2)
  let begun = 0
  const spent: boolean[] = []
  const all = Promise.all(Array.from({ length: 20 }, async () => {
    await turns.next('alice')
    begun++
    spend(1)
    spent.push(turns.isExhausted)
  }))
  await setImmediate()
  t.equal(begun, 2)
  spend(6)
  await setImmediate()
  t.equal(begun, 8)
  t.strictSame(spent.slice(2), [false, false, false, false, false, true])
  await setImmediate()
  t.equal(begun, 10, 'nothing else ran')
  spend(1000)
  await setImmediate()
  t.equal(begun, 18, 'at most 8 ms')
  await all
})

t.test('a task in a long slice has the time of a short one', async (t) => {
  const { turns, spend } = budget(2)
  const spent: boolean[] = []
  const all = Promise.all(Array.from({ length: 3 }, async () => {
    await turns.next('alice')
    spend(1)
    spent.push(turns.isExhausted)
    spend(1)
    spent.push(turns.isExhausted)
  }))
  await setImmediate()
  spend(6)
  await setImmediate()
  t.strictSame(spent, [false, true, false, true, false, true])
  await all
})

/** Tasks of a millisecond each, and how many of them have begun. */
function tasks (
  count: number, { turns, spend }: ReturnType<typeof budget>,
): { begun: () => number, all: Promise<unknown> } {
  let begun = 0
  const all = Promise.all(Array.from({ length: count }, async () => {
    await turns.next('alice')
    begun++
    spend(1)
  }))
  return { begun: () => begun, all }
}

t.test('a turn that has accepted a connection leaves the next one to those that still wait', async (t) => {
  const own = budget(2)
  const { begun, all } = tasks(6, own)
  await setImmediate()
  t.equal(begun(), 2)
  for (let connection = 0; connection < 7; connection++) {
    own.turns.connectionAccepted()
    own.spend(1)
    await setImmediate()
    t.equal(begun(), 2, 'no task is resumed')
    t.ok(own.turns.isExhausted)
  }
  await setImmediate()
  t.equal(begun(), 6, 'none was accepted, and the slice is as long as the turns that had none')
  await all
})

t.test('tasks have half of the time during an endless flood of connections', async (t) => {
  const own = budget(2)
  const { begun, all } = tasks(50, own)
  const counts: number[] = []
  for (let turn = 0; turn < 30; turn++) {
    own.turns.connectionAccepted()
    own.spend(1)
    await setImmediate()
    if (counts.at(-1) !== begun()) counts.push(begun())
  }
  t.strictSame(counts, [0, 8, 16, 24])
  while (begun() < 50) await setImmediate()
  await all
})

t.test('an accepted connection does not delay a slice for which nothing waits', async (t) => {
  const { turns, spend } = budget(2)
  t.notOk(turns.isExhausted)
  spend(2)
  t.ok(turns.isExhausted)
  turns.connectionAccepted()
  await setImmediate()
  t.notOk(turns.isExhausted)
})

t.test('a piece of work that takes longer than a slice is the only one of its turn', async (t) => {
  const { turns, spend } = budget()
  let begun = 0
  const all = Promise.all(Array.from({ length: 3 }, async () => {
    await turns.next('alice')
    begun++
    spend(100)
  }))
  for (const expected of [1, 2, 3]) {
    await setImmediate()
    t.equal(begun, expected)
  }
  await all
})

t.test('a task that awaits the budget through other promises runs before the next task is resumed', async (t) => {
  const { turns, spend } = budget()
  let begun = 0
  const nested = async () => { await (async () => { await turns.next('alice') })() }
  const all = Promise.all(Array.from({ length: 4 }, async () => {
    await nested()
    begun++
    spend(8)
  }))
  await setImmediate()
  t.equal(begun, 1)
  await all
})

t.test('callers alternate: one with much work does not delay another', async (t) => {
  const { turns } = budget()
  const order: string[] = []
  const work = async (caller: string) => {
    await turns.next(caller)
    order.push(caller)
  }
  await Promise.all([
    ...Array.from({ length: 5 }, async () => { await work('mallory') }), work('alice'), work('alice'), work('bob'),
  ])
  t.strictSame(order, ['mallory', 'alice', 'bob', 'mallory', 'alice', 'mallory', 'mallory', 'mallory'])
})

t.test('a caller with short pieces of work is resumed before one with long pieces', async (t) => {
  const { turns, spend } = budget()
  const order: string[] = []
  const work = async (caller: string, pieces: number, ms: number) => {
    for (let piece = 0; piece < pieces; piece++) {
      await turns.next(caller)
      order.push(caller)
      spend(ms)
    }
  }
  await work('alice', 1, 1)
  const heavy = work('mallory', 20, 8)
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const before = order.length
  t.ok(before > 5, `${before} pieces`)
  await work('alice', 6, 1)
  t.strictSame(order.slice(before), Array.from({ length: 6 }, () => 'alice'), 'her pieces run one after the other')
  await heavy
  t.equal(order.length, 27, 'the other work is done, too')
})

t.test('what a task does in its next ticks is done before the next task is resumed', async (t) => {
  const { turns, spend } = budget()
  const order: string[] = []
  const tick = async () => { await new Promise<void>((resolve) => { process.nextTick(resolve) }) }
  const reading = (async () => {
    await turns.next('alice')
    await tick()
    await tick()
    order.push('alice has read her body')
  })()
  const heavy = (async () => {
    await turns.next('mallory')
    order.push('mallory')
    spend(8)
  })()
  await Promise.all([reading, heavy])
  t.strictSame(order, ['alice has read her body', 'mallory'])
})

t.test('a caller is charged with all that its task does before the next one is resumed', async (t) => {
  const { turns, spend } = budget()
  const order: string[] = []
  const work = async (caller: string, ticks: number, ms: number) => {
    await turns.next(caller)
    order.push(caller)
    for (let tick = 0; tick < ticks; tick++) await new Promise<void>((resolve) => { process.nextTick(resolve) })
    spend(ms)
  }
  await Promise.all([work('mallory', 30, 8), work('mallory', 30, 8), work('alice', 0, 1), work('alice', 0, 1)])
  t.strictSame(order, ['mallory', 'alice', 'alice', 'mallory'])
})

t.test('work that does not know its caller is charged to the one whose task is running', async (t) => {
  const { turns, spend } = budget()
  const order: string[] = []
  const store = chargedToRunningCaller(turns)
  const work = async (caller: string) => {
    await turns.next(caller)
    await store.next('a bank')
    order.push(caller)
    spend(1)
  }
  await Promise.all([work('mallory'), work('mallory'), work('alice')])
  t.strictSame(order, ['alice', 'mallory', 'mallory'], 'a bank is not a separate caller')
  await setImmediate()
  t.equal(turns.runningCaller, undefined)
  await store.next('a bank')
  t.equal(turns.runningCaller, 'a bank')
})

t.test('mapInTurns maps a list in order, with the indexes', async (t) => {
  t.strictSame(await mapInTurns(['a', 'b', 'c'], 'alice', (letter, index) => `${letter}${index}`), ['a0', 'b1', 'c2'])
})
