import t from 'tap'
import { exponentialBackOff, retry } from '../../../lib/base/retry.js'

/** Work that fails this number of times, each with its number, and then succeeds. */
function failing (times: number): () => Promise<string> {
  let attempts = 0
  return async () => {
    if (attempts++ < times) throw new Error(`failure ${attempts}`)
    return `attempt ${attempts}`
  }
}

t.test('attempts are made until one succeeds, with the pause that each failure requires', async (t) => {
  const pauses: number[] = []
  const sleep = async (milliseconds: number) => { pauses.push(milliseconds) }
  const asked: unknown[] = []
  const delayMs = (error: unknown, failures: number) => {
    asked.push([String(error), failures])
    return failures * 10
  }
  t.equal(await retry(failing(2), { delayMs, sleep }), 'attempt 3')
  t.same(asked, [['Error: failure 1', 1], ['Error: failure 2', 2]])
  t.same(pauses, [10, 20])
})

t.test('the error for which delayMs is undefined is thrown', async (t) => {
  const delayMs = (_error: unknown, failures: number) => failures === 3 ? undefined : 0
  await t.rejects(retry(failing(9), { delayMs }), { message: 'failure 3' })
})

t.test('a pause that rejects ends the retries', async (t) => {
  const left = new Error('left')
  await t.rejects(retry(failing(1), { delayMs: () => 0, sleep: async () => { throw left } }), left)
})

t.test('pauses double up to the maximum', async (t) => {
  t.same([1, 2, 3, 4, 5].map((failures) => exponentialBackOff(failures, 10, 100)), [10, 20, 40, 80, 100])
  t.equal(exponentialBackOff(10, 1), 512)
})
