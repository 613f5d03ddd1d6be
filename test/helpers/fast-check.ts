import fc from 'fast-check'

/** Whether properties try many cases: `npm run test:long`. */
const LONG = process.env['TEST_LONG'] === '1'

/**
 * The seed of every random test. scripts/test.mjs sets TEST_SEED to a new seed for `npm run test:long` and where `CI`
 * is set, and prints it; .ci/run and .ci/full set it to a seed of each commit. Elsewhere the seed is fixed: with the
 * same cases in each run, a new failure comes from the change.
 */
export const SEED = Number(process.env['TEST_SEED'] ?? 20260115)

fc.configureGlobal({ seed: SEED })

/** How many cases a property tries: few in `npm test`, which every change waits for, many in `npm run test:long`. */
export function runs (few: number, many: number): number {
  return LONG ? many : few
}

export default fc
