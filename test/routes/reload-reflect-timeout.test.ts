import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { CallLimits } from '../../lib/models/bounded-models.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { generation, parts, StreamingModel } from './reflecting.js'

/** A model with a long timeout of its own, so that only the file bounds its attempts. */
class PatientModel extends StreamingModel {
  readonly limits: Partial<CallLimits> = { attemptTimeoutMs: 600_000 }
}

const timeout = (ms: number): FileConfig => ({ llm_provider: 'mock', reflect: { timeout_ms: ms } })

/** A gateway whose timers are watched: an attempt of the model has one that ends it. */
async function start (t: Test, file: FileConfig, languageModel: StreamingModel = new PatientModel()) {
  let written = file
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  languageModel.parts = () => parts('The otter sleeps on the river [1].')
  const app = await testApp(t, { file }, { languageModel }, { reloadConfig: () => testConfig({ file: written }) })
  await app.retain('home', 'The otter sleeps on the river.')
  const timers = t.capture(globalThis, 'setTimeout', globalThis.setTimeout)
  return {
    reload: async (next: FileConfig) => {
      written = next
      t.equal((await app.post('/v1/admin/reload', {})).statusCode, 200)
    },
    /** The times in milliseconds after which something would have been ended while a reflect ran. */
    times: async (headers: Record<string, string> = {}) => {
      timers()
      const response = await app.post('/v1/reflect', { bank_id: 'home', query: 'Where does the otter sleep?' }, headers)
      t.equal(response.statusCode, 200)
      return timers().map(({ args }) => args[1])
    },
  }
}

const WAYS = { 'an answer': {}, 'a streamed answer': { accept: 'text/event-stream' } }

for (const [what, headers] of Object.entries(WAYS)) {
  await t.test(`an attempt of the model for ${what} takes three quarters of reflect.timeout_ms, raised and lowered ` +
    'by a reload', async (t) => {
    // Odd numbers that no other timer has.
    const all = [40_004, 400_004, 8004, 60_004]
    const { reload, times } = await start(t, timeout(40_004))
    for (const ms of all) {
      await reload(timeout(ms))
      const found = await times(headers)
      t.ok(found.includes(ms * 0.75), `${ms}: ${found.join()}`)
      t.same(all.filter((other) => other !== ms && found.includes(other * 0.75)), [])
    }
  })
}

await t.test('the longest timeout of a bank or a profile of the file counts, until it is removed', async (t) => {
  const { reload, times } = await start(t, timeout(8004))
  for (const more of [{ banks: { other: { reflect: { timeout_ms: 7000 } } } }, {}]) {
    await reload({ ...timeout(8004), ...more })
    t.ok((await times()).includes(6003))
  }
  for (const more of [
    { banks: { home: { reflect: { timeout_ms: 40_004 } } } },
    { banks: { home: { profile: 'slow' } }, profiles: { slow: { reflect: { timeout_ms: 40_004 } } } },
  ]) {
    await reload({ ...timeout(8004), ...more })
    t.ok((await times()).includes(30_003))
    await reload(timeout(8004))
    t.ok((await times()).includes(6003))
  }
})

await t.test('the timeout of the model itself remains a bound, however much the file is raised', async (t) => {
  class Brisk extends StreamingModel {
    readonly limits: Partial<CallLimits> = { attemptTimeoutMs: 5001 }
  }
  const { reload, times } = await start(t, timeout(4004), new Brisk())
  t.ok((await times()).includes(3003))
  await reload(timeout(600_000))
  t.ok((await times()).includes(5001))
})
