import t from 'tap'
import { linePath, roundUp } from '../../console/src/text/scale.js'

t.test('the top of a chart is a round number above its values', async (t) => {
  const cases: Array<[value: number, top: number]> = [
    [0, 1], [-1, 1], [Number.NaN, 1], [1, 1], [1.1, 2], [2.2, 2.5], [3, 5], [7, 10], [10, 10], [11, 20], [0.03, 0.05],
  ]
  for (const [value, top] of cases) t.ok(Math.abs(roundUp(value) - top) < 1e-9, `${value}: ${roundUp(value)}`)
})

t.test('a line connects its values and has a gap where a value is missing', async (t) => {
  t.equal(linePath([0, 5, 10], 100, 50, 10), 'M0.0 50.0l0 0L50.0 25.0L100.0 0.0')
  t.equal(linePath([null, 5, null, 10], 90, 50, 10), 'M30.0 25.0l0 0M90.0 0.0l0 0')
  t.equal(linePath([], 100, 50, 10), '')
  t.equal(linePath([20], 100, 50, 10), 'M0.0 0.0l0 0', 'nothing is above the top')
})
