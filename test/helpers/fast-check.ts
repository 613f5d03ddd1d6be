import fc from 'fast-check'

/** Whether properties explore: `npm run test:long` has a seed of its own for each run, which it prints, and tries more cases. */
const LONG = process.env['TEST_LONG'] === '1'

// The same cases in every other run: a failure that came by chance could not be told from a change's own.
export const SEED = Number(process.env['TEST_SEED'] ?? 20260115)

fc.configureGlobal({ seed: SEED })

/** How many cases a property tries: few in `npm test`, for which every change waits, and many in `npm run test:long`. */
export function runs (few: number, many: number): number {
  return LONG ? many : few
}

export default fc
