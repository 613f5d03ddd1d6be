import t from 'tap'
import { ProcessUsage } from '../../lib/operations/admission.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { refused } from './support.js'

await t.test('a request that cannot be counted gets all its rate tokens back', async (t) => {
  const counts = new ProcessUsage()
  let isDown = true
  const store = Object.assign(new InMemoryVectorStore(), {
    reserveUsage: async (entries: Parameters<ProcessUsage['reserveUsage']>[0]) => {
      if (isDown) throw new Error('connect ECONNREFUSED db.internal:5432')
      return await counts.reserveUsage(entries)
    },
    adjustUsage: async (entries: Parameters<ProcessUsage['adjustUsage']>[0]) => { await counts.adjustUsage(entries) },
  })
  const app = await testApp(t, {
    file: {
      homeostasis: { rate_limits: { retain_per_minute: 3, global_per_minute: 3 }, quotas: { retain_per_day: 100 } },
    },
  }, { store })
  const batch = async (size: number) => (
    await app.post('/v1/retain/batch', {
      bank_id: 'home', items: Array.from({ length: size }, (_, index) => ({ content: `Text ${index} of ${size}.` })),
    })
  )
  for (let count = 0; count < 5; count++) refused(t, await batch(3), 503, 'dependency_unavailable')
  isDown = false
  t.equal((await batch(3)).statusCode, 200, 'all tokens of a minute are available')
  refused(t, await batch(1), 429, 'rate_limited', { detail: /_per_minute/ })
})
