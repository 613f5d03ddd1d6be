import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { dedupConfig, retain, retainBatch, textsOf } from './retain-dedup-support.js'

/** More memories with the same words than a retain compares. */
const HEARTBEATS = Array.from({ length: 30 }, (_, hour) => ({
  content: 'Heartbeat ok', occurred_at: new Date(Date.UTC(2025, 0, 1, hour)).toISOString(),
}))

/** Stores the heartbeats before the bank gets this action, and returns their ids. */
async function setUp (home: TestApp, action: 'skip' | 'update' | 'warn'): Promise<string[]> {
  const ids = (await retainBatch(home, HEARTBEATS)).map(({ memory_id: id }) => id)
  const response = await home.app.inject({
    method: 'PATCH',
    url: '/v1/banks/home/config',
    payload: dedupConfig(action),
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  if (response.statusCode !== 200) throw new Error(response.body)
  return ids
}

for (const action of ['skip', 'update', 'warn'] as const) {
  t.test(`${action}: an exact repeat of one of many memories with the same words changes nothing`, async (t) => {
    const home = await testApp(t)
    const ids = await setUp(home, action)
    const { content, ...more } = HEARTBEATS.at(-1)!
    t.strictSame(await retain(home, content, more), {
      stored: false, memory_id: ids.at(-1), chunk_count: 1, deduplicated: true, bank_id: 'home',
    })
    t.equal((await textsOf(home)).length, HEARTBEATS.length)
    for (const id of ids) t.equal((await home.get(`/v1/banks/home/memories/${id}`)).statusCode, 200)
    t.strictSame((await retainBatch(home, HEARTBEATS)).map(({ memory_id: id, stored }) => [id, stored]), ids.map(
      (id) => [id, false],
    ))
  })
}
