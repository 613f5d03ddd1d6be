import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { EventLoopThrottle } from '../../../lib/concurrency/event-loop-throttle.js'

/** Asks for so many turns at once; the numbers of those that had theirs are put into the list. */
function crowd (turns: EventLoopThrottle, count: number): { begun: number[], all: Promise<unknown> } {
  const begun: number[] = []
  const all = Promise.all(Array.from({ length: count }, async (_, number) => {
    await turns.next()
    begun.push(number)
  }))
  return { begun, all }
}

t.test('a crowd is begun in the order in which it came', async (t) => {
  const { begun, all } = crowd(new EventLoopThrottle(4), 50)
  await all
  t.strictSame(begun, Array.from({ length: 50 }, (_, number) => number))
})

t.test('one turn of the event loop begins a few, and what else waits comes in between', async (t) => {
  const { begun } = crowd(new EventLoopThrottle(4), 10)
  t.equal(begun.length, 0, 'nothing is begun at once')
  const counts: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    await setImmediate()
    counts.push(begun.length)
  }
  t.strictSame(counts, [4, 8, 10, 10])
})

t.test('who comes later waits behind those who wait, and a queue that was empty begins again', async (t) => {
  const turns = new EventLoopThrottle(4)
  const first = crowd(turns, 6)
  await setImmediate()
  const second = crowd(turns, 3)
  await setImmediate()
  t.strictSame([first.begun.length, second.begun.length], [6, 2])
  await Promise.all([first.all, second.all])
  const third = crowd(turns, 5)
  await setImmediate()
  t.equal(third.begun.length, 4)
  await third.all
})
