import t from 'tap'
import {
  faultsOf, isAllowed, mayBeNoise, missedProbes, serverWait, slopeOfLastTwoThirds, type Measured,
} from './verdict.js'

const GOOD: Measured = {
  alive: true,
  worstMs: 20,
  newConnectionWorstMs: 30,
  peakMb: 200,
  idleMb: null,
  badAnswers: [],
  faults: [],
  descriptorsLeft: 0,
  filesLeft: 0,
}

await t.test('a probe counts as missed after 100 ms, and then one more every 5 ms', async (t) => {
  t.strictSame([0, 99, 100, 101, 104.9, 105, 200, 1100].map(missedProbes), [0, 0, 0, 1, 1, 2, 21, 201])
})

const wait = (from: number, to: number, queuedMs = 0) => ({ from, to, queuedMs })

await t.test('delays of an idle server and waits for a processor are subtracted', async (t) => {
  t.equal(serverWait(wait(100, 300), []), 200)
  t.equal(serverWait(wait(100, 300), [wait(0, 90), wait(310, 400)]), 200)
  t.equal(serverWait(wait(100, 300), [wait(50, 150), wait(200, 220), wait(290, 500)]), 120)
  t.equal(serverWait(wait(100, 300), [wait(0, 1000)]), 0)
  t.equal(serverWait(wait(100, 300, 150), []), 50)
  // They may be the same time.
  t.equal(serverWait(wait(100, 300, 150), [wait(50, 150)]), 50)
  t.equal(serverWait(wait(100, 300, 20), [wait(50, 150)]), 150)
  t.equal(serverWait(wait(100, 300, 400), []), 0)
})

await t.test('an input passes when the server answered, is running and released its resources', async (t) => {
  t.strictSame(faultsOf(GOOD), [])
  // One missed probe may be the machine's.
  t.strictSame(faultsOf({ ...GOOD, worstMs: 103 }), [])
  t.strictSame(faultsOf({ ...GOOD, worstMs: 106 }), ['2 probes missed'])
  t.strictSame(faultsOf({ ...GOOD, newConnectionWorstMs: 1500.4 }), ['new connections waited 1500 ms'])
  t.strictSame(faultsOf({ ...GOOD, peakMb: 401 }), ['401 MB'])
  t.strictSame(faultsOf({ ...GOOD, peakMb: null }), [])
  // A database in the process has much to begin with: what is added to it counts, and no more.
  t.strictSame(faultsOf({ ...GOOD, idleMb: 550, peakMb: 800 }), [])
  t.strictSame(faultsOf({ ...GOOD, idleMb: 550, peakMb: 801 }), ['251 MB added to 550 MB'])
  t.strictSame(faultsOf({ ...GOOD, idleMb: 100, peakMb: 351 }), ['251 MB added to 100 MB'])
  t.strictSame(faultsOf({ ...GOOD, idleMb: 100, peakMb: null }), [])
  t.strictSame(
    faultsOf({ ...GOOD, badAnswers: ['500 x2'], faults: ['3 stand'], descriptorsLeft: 17, filesLeft: 1 }),
    ['3 stand', 'answers: 500 x2', '17 descriptors left', '1 files left'],
  )
  t.strictSame(faultsOf({ ...GOOD, alive: false, worstMs: 9000 }), ['the process died'])
})

await t.test('only faults that noise may cause are repeated', async (t) => {
  t.equal(mayBeNoise({ ...GOOD, worstMs: 300 }), true)
  t.equal(mayBeNoise({ ...GOOD, worstMs: 3000 }), false)
  t.equal(mayBeNoise({ ...GOOD, alive: false }), false)
  t.equal(mayBeNoise({ ...GOOD, badAnswers: ['500 x1'] }), false)
})

await t.test('success, refusal and overload are allowed; a fault and a missing answer are not', async (t) => {
  const allowed = ['200', '204', '400', '413', '431', '501', '503', 'closed']
  for (const status of allowed) t.equal(isAllowed(status), true, status)
  for (const status of ['500', '502', '504', 'timeout', '302']) t.equal(isAllowed(status), false, status)
  t.equal(isAllowed('200', ['400']), false)
  t.equal(isAllowed('400', ['400']), true)
})

await t.test('the slope is that of the last two thirds, and is robust against single samples', async (t) => {
  const samples = (mib: (minute: number) => number) =>
    Array.from({ length: 31 }, (_, minute) => ({ minute, mib: mib(minute) }))
  t.equal(slopeOfLastTwoThirds(samples(() => 200)), 0)
  t.equal(slopeOfLastTwoThirds(samples((minute) => 100 + 3 * minute)), 3)
  // A rise at the beginning is how a process warms up.
  t.equal(slopeOfLastTwoThirds(samples((minute) => minute < 10 ? minute * 20 : 200)), 0)
  t.equal(slopeOfLastTwoThirds(samples((minute) => minute < 15 ? minute * 20 : 200), 15), 0)
  t.equal(slopeOfLastTwoThirds(samples((minute) => minute < 15 ? 100 : 3 * minute), 15), 3)
  // Values around a constant level do not rise.
  t.ok(Math.abs(slopeOfLastTwoThirds(samples((minute) => 200 + (minute % 2 === 0 ? 50 : 0)))) < 0.2)
  t.equal(slopeOfLastTwoThirds(samples((minute) => minute > 28 ? 400 : 200)), 0)
  t.equal(slopeOfLastTwoThirds(samples((minute) => minute > 28 ? 20 : 2 * minute)), 2)
  // A rise under a saw-tooth is one.
  t.ok(Math.abs(slopeOfLastTwoThirds(samples((minute) => 2 * minute + (minute % 5) * 20)) - 2) < 0.5)
  t.ok(Number.isNaN(slopeOfLastTwoThirds([])))
  t.ok(Number.isNaN(slopeOfLastTwoThirds([{ minute: 1, mib: 1 }])))
})
