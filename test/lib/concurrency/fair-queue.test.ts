import t from 'tap'
import { FairQueue } from '../../../lib/concurrency/fair-queue.js'

/** Serves `count` items and charges for each what `cost` has for its flow. */
function serve (queue: FairQueue<string>, count: number, cost: Record<string, number> = {}): string[] {
  const served: string[] = []
  for (let index = 0; index < count; index++) {
    const name = queue.shift()
    if (name === undefined) break
    served.push(name)
    queue.charge(cost[name] ?? 0)
  }
  return served
}

function fill (queue: FairQueue<string>, name: string, count: number): void {
  for (let index = 0; index < count; index++) queue.push(name, name)
}

t.test('an empty queue serves nothing, and charging it does nothing', async (t) => {
  const queue = new FairQueue<string>()
  t.equal(queue.length, 0)
  t.equal(queue.shift(), undefined)
  queue.charge(5)
  t.equal(queue.size, 0)
})

t.test('flows with equal cost alternate, in the order of their arrival', async (t) => {
  const queue = new FairQueue<string>()
  for (const name of ['a', 'b', 'c']) fill(queue, name, 2)
  t.strictSame(serve(queue, 10), ['a', 'b', 'c', 'a', 'b', 'c'])
})

t.test('items of one flow are served in order', async (t) => {
  const queue = new FairQueue<number>()
  for (const item of [1, 2, 3]) queue.push('a', item)
  const order: Array<number | undefined> = []
  for (let index = 0; index < 3; index++) {
    order.push(queue.shift())
    // An item that is added during service is served after those that wait already.
    if (index === 0) queue.push('a', 4)
    queue.charge(1)
  }
  t.strictSame([...order, queue.shift()], [1, 2, 3, 4])
})

t.test('flows with different costs get the same service in total', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 0 })
  const cost = { heavy: 10, light: 1, middle: 5 }
  for (const name of Object.keys(cost)) fill(queue, name, 1000)
  const served = serve(queue, 400, cost)
  const used = Object.entries(cost).map(([name, ms]) => served.filter((one) => one === name).length * ms)
  t.ok(Math.max(...used) - Math.min(...used) <= 10, `${used.join(', ')} ms`)
})

t.test('a flow that returns after a pause is served before one that had the service meanwhile', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 20 })
  fill(queue, 'light', 1)
  serve(queue, 1, { light: 1 })
  fill(queue, 'heavy', 100)
  serve(queue, 50, { heavy: 6 })
  for (let round = 0; round < 5; round++) {
    fill(queue, 'light', 2)
    t.strictSame(serve(queue, 3, { heavy: 6, light: 1 }), ['light', 'light', 'heavy'])
  }
})

t.test('a flow is served however many new ones come after it', async (t) => {
  const queue = new FairQueue<string>()
  fill(queue, 'known', 50)
  fill(queue, 'other', 1)
  let served = 0
  for (let index = 0; index < 2000; index++) {
    queue.push(`new ${index}`, 'new')
    if (queue.shift() === 'known') served++
    queue.charge(1)
  }
  t.equal(served, 50)
})

t.test('a flow that is new has no credit', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 20 })
  fill(queue, 'heavy', 100)
  serve(queue, 50, { heavy: 6 })
  fill(queue, 'new', 10)
  t.strictSame(serve(queue, 4, { heavy: 6, new: 6 }), ['heavy', 'new', 'heavy', 'new'])
})

t.test('a long backlog of one flow gets ahead by the credit only, and then has an equal share', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 20 })
  fill(queue, 'light', 1)
  serve(queue, 1, { light: 1 })
  fill(queue, 'heavy', 100)
  serve(queue, 50, { heavy: 10 })
  fill(queue, 'light', 200)
  const served = serve(queue, 100, { heavy: 10, light: 1 })
  const first = served.indexOf('heavy')
  t.ok(first >= 20 && first <= 31, `${first} before the heavy one goes on`)
  const later = served.slice(first)
  t.ok(Math.abs(later.filter((name) => name === 'heavy').length * 11 - later.length) <= 11, 'each has the same time')
})

t.test('an idle flow saves up no more than the credit', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 20 })
  fill(queue, 'early', 1)
  serve(queue, 1, { early: 1 })
  fill(queue, 'heavy', 2000)
  serve(queue, 1000, { heavy: 10 })
  fill(queue, 'early', 100)
  const first = serve(queue, 100, { heavy: 10, early: 5 }).indexOf('heavy')
  t.ok(first <= 6, `${first} before the heavy one goes on`)
})

t.test('a flow keeps its start tag when it leaves and returns', async (t) => {
  const queue = new FairQueue<string>({ creditMs: 20 })
  queue.push('heavy', 'heavy')
  queue.push('other', 'other')
  t.strictSame(serve(queue, 2, { heavy: 100, other: 1 }), ['heavy', 'other'])
  queue.push('heavy', 'heavy')
  fill(queue, 'other', 5)
  t.strictSame(serve(queue, 6, { other: 1 }), ['other', 'other', 'other', 'other', 'other', 'heavy'])
})

t.test('the number of remembered idle flows is bounded', async (t) => {
  const queue = new FairQueue<string>()
  for (let index = 0; index < 5000; index++) {
    queue.push(`flow ${index}`, 'once')
    serve(queue, 1, { once: 0.001 })
  }
  t.equal(queue.length, 0)
  t.ok(queue.size <= 1000, `${queue.size} of 5000`)
  // Flows that wait are never forgotten.
  for (let index = 0; index < 3000; index++) queue.push(`waiting ${index}`, `waiting ${index}`)
  t.equal(new Set(serve(queue, 5000)).size, 3000)
})
