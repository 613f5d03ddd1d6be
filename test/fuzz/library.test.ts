import fc, { runs, SEED } from '../helpers/fast-check.js'
import t from 'tap'
import { Twins, WORDS, type ForgetWhat } from './library.js'

const RUNS = runs(25, 100)
const LENGTH = 40

type Step = (twins: Twins) => void | Promise<void>

const place = fc.record({ tenant: fc.constantFrom(0, 0, 1), bank: fc.constantFrom(0, 0, 1) })
// Few texts, so that repeats come up; some repeat each other only after NFC and single spaces.
const text = fc.constantFrom(
  'otter', 'otter heron', ' otter   heron ', 'Otter heron.', 'birch caf\u00e9', 'birch cafe\u0301',
  'birch\n\tcaf\u00e9', 'moss', `moss. ${'otter birch heron. '.repeat(150)}`,
)
const tags: fc.Arbitrary<string[]> = fc.subarray(['a', 'b', 'c'])
const draft = fc.record({
  text,
  tags: fc.oneof(tags, tags.map((list) => [...list].reverse()), fc.constant<string[]>(['b', 'b'])),
  documentId: fc.constantFrom(null, null, 'd1', 'd2'),
  occurredAt: fc.constantFrom(null, null, '2025-01-01T00:00:00.000Z'),
})
const match = fc.constantFrom('any' as const, 'all' as const)
const what: fc.Arbitrary<ForgetWhat> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ids: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      filters: fc.record({
        tags: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
        documents: fc.subarray(['d1', 'd2', 'd3'], { minLength: 1 }),
        occurredAfter: fc.constantFrom('2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.001Z'),
        retainedBefore: fc.constantFrom('2026-01-15T10:00:30.000Z', '2026-01-15T10:02:00.000Z'),
      }, { requiredKeys: [] }).filter((filters) => Object.keys(filters).length > 0),
      match,
    }),
  },
  { weight: 1, arbitrary: fc.constant('all' as const) },
)

/** The steps' texts are what a failure shows. */
function step<T> (
  name: string, arbitrary: fc.Arbitrary<T>, run: (twins: Twins, value: T) => void | Promise<void>,
): fc.Arbitrary<Step> {
  return arbitrary.map((value) => Object.assign((twins: Twins) => run(twins, value), {
    [fc.toStringMethod]: () => `${name} ${fc.stringify(value)}`,
  }))
}

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: step(
      'retain', fc.tuple(place, draft, fc.constantFrom(undefined, undefined, 30, 90), fc.constantFrom(1, 1, 3)),
      (twins, [where, item, seconds, times]) => twins.retain(where, item, seconds, times),
    ),
  },
  {
    weight: 2,
    arbitrary: step(
      'batch', fc.tuple(place, fc.array(draft, { minLength: 1, maxLength: 5 })),
      (twins, [where, items]) => twins.retainBatch(where, items),
    ),
  },
  {
    weight: 3,
    arbitrary: step(
      'forget', fc.tuple(place, what, fc.constantFrom(false, false, true)),
      (twins, [where, which, dryRun]) => twins.forget(where, which, dryRun),
    ),
  },
  {
    weight: 2,
    arbitrary: step(
      'recall',
      fc.tuple(
        place, fc.boolean(), fc.subarray([...WORDS], { minLength: 1 }), tags, match, fc.constantFrom(1, 3, 1000),
      ),
      (twins, [where, everywhere, words, having, how, limit]) => twins.recall(
        where, everywhere, words, having, how, limit,
      ),
    ),
  },
  { weight: 2, arbitrary: step('export', place, (twins, where) => twins.export(where)) },
  {
    weight: 2,
    arbitrary: step(
      'import', fc.tuple(place, fc.nat(), fc.constantFrom('skip' as const, 'overwrite' as const), fc.boolean()),
      (twins, [where, which, onConflict, twice]) => twins.import(where, which, onConflict, twice),
    ),
  },
  {
    weight: 2,
    arbitrary: step('advance', fc.constantFrom(1, 29, 30, 61), (twins, seconds) => { twins.advance(seconds) }),
  },
)

t.test('the library agrees with a plain list after any sequence of operations and expiries', async (t) => {
  let steps = 0
  await fc.assert(fc.asyncProperty(fc.array(anyStep, {
    minLength: 5, maxLength: LENGTH, size: 'max',
  }), async (list) => {
    const twins = await Twins.make()
    for (const run of list) {
      await run(twins)
      await twins.compare()
      steps++
    }
  }), { seed: SEED, numRuns: RUNS })
  t.ok(steps > RUNS * 5, `${steps} steps`)
})
