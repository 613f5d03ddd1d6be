import t from 'tap'
import { pairedBootstrap, type Pair } from '../../bench/recall/bootstrap.js'

const pairs = (
  conversation: string, values: ReadonlyArray<readonly [number, number]>,
): Pair[] => values.map(([a, b]) => ({ conversation, a, b }))
const repeated = (count: number, value: readonly [number, number]) => Array.from({ length: count }, () => value)

await t.test('the difference is that of the means over conversations', async (t) => {
  const {
    a, b, difference, conversations, won,
  } = pairedBootstrap([...pairs('one', repeated(3, [0, 1])), ...pairs('two', [[1, 0.5]])])
  t.strictSame([a, b, difference, conversations, won], [0.5, 0.75, 0.25, 2, 1])
})

await t.test('equal runs have the difference 0, and neither wins a conversation', async (t) => {
  t.match(
    pairedBootstrap([...pairs('one', [[1, 1], [0, 0]]), ...pairs('two', [[0.5, 0.5]])]),
    { difference: 0, low: 0, high: 0, won: 0 },
  )
})

await t.test('a difference that is the same for every question is certain', async (t) => {
  t.match(pairedBootstrap(pairs('one', repeated(20, [0.25, 0.5]))), { difference: 0.25, low: 0.25, high: 0.25, won: 1 })
})

await t.test('the interval of a mean is that of the normal distribution when there are many questions', async (t) => {
  const { difference, low, high } = pairedBootstrap(pairs('one', [...repeated(200, [0, 1]), ...repeated(200, [0, 0])]))
  const halfWidth = 1.96 * 0.5 / Math.sqrt(400)
  t.equal(difference, 0.5)
  t.ok(Math.abs(low - (0.5 - halfWidth)) < 0.01, `${low}`)
  t.ok(Math.abs(high - (0.5 + halfWidth)) < 0.01, `${high}`)
})

await t.test('the same seed gives the same interval, and another seed another one', async (t) => {
  const uneven = pairs('one', Array.from({ length: 37 }, (_, index) => [0, (index * 7 % 10) / 10] as const))
  t.strictSame(pairedBootstrap(uneven), pairedBootstrap(uneven))
  t.notSame(pairedBootstrap(uneven), pairedBootstrap(uneven, { seed: 1 }))
})

await t.test('conversations of one question each are resampled like the questions of one conversation', async (t) => {
  const values = Array.from({ length: 100 }, (_, index) => [0, index % 2] as const)
  const alone = pairedBootstrap(values.flatMap((value, index) => pairs(`c${index}`, [value])))
  t.strictSame([alone.difference, alone.conversations, alone.won], [0.5, 100, 50])
  const together = pairedBootstrap(pairs('one', values))
  t.strictSame([alone.low, alone.high], [together.low, together.high], 'as if they were questions of one conversation')
  t.ok(alone.low < 0.5 && alone.high > 0.5)
})
