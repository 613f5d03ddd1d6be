import t from 'tap'
import { impactFaults } from './impact.js'

const figures = (p99: number, more = {}) => ({ answers: 1000, refused: 0, p50: p99 / 4, p99, max: p99, ...more })

await t.test('during an attack the p99 of legitimate clients is at most three times as long, and they ' +
  'are answered', async (t) => {
  t.strictSame(impactFaults(figures(20), figures(60), true), [])
  t.strictSame(impactFaults(figures(20), figures(61), true), ['p99 3.0 times'])
  // A few milliseconds cannot be distinguished from noise of the machine.
  t.strictSame(impactFaults(figures(2), figures(30), true), [])
  t.strictSame(impactFaults(figures(20), figures(20, { refused: 11 }), true), ['11 of 1000 refused'])
  t.strictSame(
    impactFaults(figures(20), figures(NaN, { answers: 0 }), false), ['the process died', 'no request was answered'],
  )
})
