import t from 'tap'
import { faultsBeside } from './beside.js'

const figures = (p99: number, more = {}) => ({ answers: 1000, refused: 0, p50: p99 / 4, p99, max: p99, ...more })

await t.test('honest clients may wait three times as long beside an attacker, and are answered', async (t) => {
  t.strictSame(faultsBeside(figures(20), figures(60), true), [])
  t.strictSame(faultsBeside(figures(20), figures(61), true), ['p99 3.0 times'])
  // A few milliseconds are not told from the machine's noise.
  t.strictSame(faultsBeside(figures(2), figures(30), true), [])
  t.strictSame(faultsBeside(figures(20), figures(20, { refused: 11 }), true), ['11 of 1000 refused'])
  t.strictSame(faultsBeside(figures(20), figures(NaN, { answers: 0 }), false), ['the process died', 'nobody was answered'])
})
