import t from 'tap'
import { linePaths, roundUp } from '../../console/src/text/scale.js'

t.test('the top of a chart is a round number above its values', async (t) => {
  const cases: Array<[value: number, top: number]> = [
    [0, 1], [-1, 1], [Number.NaN, 1], [1, 1], [1.1, 2], [2.2, 4], [3, 4], [5, 6], [7, 8], [9, 10],
    [10, 10], [11, 20], [0.03, 0.04],
  ]
  for (const [value, top] of cases) t.ok(Math.abs(roundUp(value) - top) < 1e-9, `${value}: ${roundUp(value)}`)
})

t.test('a line connects neighbouring values, and a bridge those around a gap', async (t) => {
  t.same(linePaths([0, 5, 10], 100, 50, 10), { line: 'M0.0 50.0L50.0 25.0L100.0 0.0', bridges: '' })
  t.same(linePaths([null, 5, null, 10, 5], 100, 50, 10), {
    line: 'M25.0 25.0M75.0 0.0L100.0 25.0', bridges: 'M25.0 25.0L75.0 0.0',
  })
  t.same(linePaths([], 100, 50, 10), { line: '', bridges: '' })
  t.same(linePaths([20, null], 100, 50, 10), { line: 'M0.0 0.0', bridges: '' }, 'nothing is above the top')
})
