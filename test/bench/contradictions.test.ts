import t from 'tap'
import { missedFloors } from '../../bench/contradictions/floors.js'
import { HALVES, KINDS, measurePairs } from '../../bench/contradictions/pairs.js'

const outcomes = await measurePairs()

await t.test('the pairs are 300, a third and more supersede nothing, and each kind is in both halves', async (t) => {
  t.equal(outcomes.length, 300)
  t.ok(outcomes.filter(({ supersedes }) => !supersedes).length >= 100)
  t.equal(new Set(outcomes.map(({ said, later, said_by: by, later_by: laterBy, said_at: at }) => (
    JSON.stringify([said, later, by, laterBy, at])
  ))).size, 300, 'no pair occurs twice')
  for (const half of HALVES) {
    const kinds = new Set(outcomes.filter((one) => one.supersedes && one.half === half).map(({ kind }) => kind))
    t.strictSame([...kinds].sort(), [...KINDS].sort(), half)
  }
})

await t.test('the figures of both halves reach their floors', async (t) => {
  t.strictSame(missedFloors(outcomes), [])
})

await t.test('a figure below its floor is told', async (t) => {
  const nothing = outcomes.map((one) => ({ ...one, proposed: undefined }))
  t.match(missedFloors(nothing), [/precision of the half tuning/, /recall of the half tuning/, /held out/, /held out/])
  const everything = outcomes.map((one) => ({ ...one, proposed: 'value' as const }))
  t.match(missedFloors(everything), [/precision of the half tuning is 0\.5/, /precision of the half held out/])
})
