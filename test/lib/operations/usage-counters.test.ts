import t from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import { ProcessUsage, UsageCounters, type UsageStore } from '../../../lib/operations/admission.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import type { UsageEntry, UsageReservation } from '../../../lib/stores/vector-store.js'
import { usageContract } from '../../contract/vector-store/usage.js'

t.test('counts in the process satisfy the contract of counts in a store', async (t) => {
  usageContract(t, async () => {
    const usage = new ProcessUsage()
    return Object.assign(new InMemoryVectorStore(), {
      reserveUsage: async (entries: readonly UsageReservation[]) => await usage.reserveUsage(entries),
      adjustUsage: async (entries: readonly UsageEntry[]) => { await usage.adjustUsage(entries) },
    })
  })
})

const one = (
  bankId: string, amount: number, limit = 1,
): UsageReservation => ({ bank: { tenantId: null, bankId }, day: 1, counter: 'model_calls_per_day', amount, limit })

/** Counts of the process whose corrections wait until the test releases them. */
class SlowCorrections extends ProcessUsage {
  readonly waiting: Array<() => void> = []
  asked = 0

  override async reserveUsage (entries: readonly UsageReservation[]) {
    this.asked++
    return await super.reserveUsage(entries)
  }

  override async adjustUsage (entries: readonly UsageEntry[]): Promise<void> {
    await new Promise<void>((resolve) => { this.waiting.push(resolve) })
    await super.adjustUsage(entries)
  }
}

t.test('pending corrections are awaited before a bank is refused for an exhausted quota', async (t) => {
  const store = new SlowCorrections()
  const usage = new UsageCounters({ store })
  t.equal(await usage.reserve([one('home', 1)]), undefined)
  t.equal(await usage.reserve([one('work', 1)]), undefined)
  usage.adjust([one('home', -1)])
  t.match(await usage.reserve([one('work', 1)]), { bank: { bankId: 'work' } }, 'another bank does not wait')
  const asked = store.asked
  const next = usage.reserve([one('home', 1)])
  store.waiting.shift()!()
  t.equal(await next, undefined)
  t.equal(store.asked, asked + 2)
  t.match(await usage.reserve([one('home', 1)]), { counter: 'model_calls_per_day', limit: 1 })
  t.equal(store.asked, asked + 3, 'nothing is in progress, so nothing is requested again')
})

t.test('the counters are idle when every correction is counted', async (t) => {
  const store = new SlowCorrections()
  const usage = new UsageCounters({ store })
  await usage.idle()
  await usage.reserve([one('home', 1)])
  usage.adjust([one('home', -1)])
  usage.adjust([one('home', 0)])
  t.equal(store.waiting.length, 1, 'a correction of zero is not requested')
  let isIdle = false
  const idle = usage.idle().then(() => { isIdle = true })
  await new Promise((resolve) => { setImmediate(resolve) })
  t.notOk(isIdle)
  store.waiting.shift()!()
  await idle
  t.equal(await usage.reserve([one('home', 1)]), undefined)
})

t.test('a failed correction is logged without the message of the foreign error, and is not thrown', async (t) => {
  const log: string[] = []
  const errors = [
    new Error('the secret text'),
    new ServiceError('dependency_unavailable', 'The vector store is unavailable', {
      cause: new RangeError('the secret text'),
    }),
    new ServiceError('dependency_unavailable', 'The vector store is busy'),
    'the secret text',
  ]
  const store: UsageStore = {
    reserveUsage: async () => ({ granted: true }),
    adjustUsage: async () => {
      throw errors.shift() // eslint-disable-line @typescript-eslint/only-throw-error
    },
  }
  const usage = new UsageCounters({ store, warn: (message) => { log.push(message) } })
  for (let index = 0; index < 4; index++) {
    usage.adjust([one('home', -1), { ...one('work', -5), counter: 'model_tokens_per_day' }])
  }
  await usage.idle()
  t.strictSame(
    log.map((line) => /\(([^()]*)\)$/.exec(line)?.[1]),
    ['Error', 'The vector store is unavailable: RangeError', 'The vector store is busy', 'unknown'],
  )
  t.match(
    log[0], /^homeostasis\.quotas: model_calls_per_day and model_tokens_per_day of home, work could not be corrected/,
  )
  t.notMatch(log.join(), /secret/)
})

t.test('counts of long names take no more memory than those of short ones', async (t) => {
  const usage = new ProcessUsage()
  const many = (length: number) => Array.from({ length: 80_000 }, (_, index) => one(`${index}`.padEnd(length, 'x'), 1))
  await usage.reserveUsage([one('first', 1)])
  await usage.reserveUsage(many(20))
  t.match(await usage.reserveUsage([one('first', 1)]), { granted: false }, 'as many with short names are kept')
  await usage.reserveUsage(many(255))
  t.match(await usage.reserveUsage([one('first', 1)]), { granted: true }, 'with long names some were forgotten')
})
