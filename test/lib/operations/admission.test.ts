import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { BankKey, RequestContext } from '../../../lib/access/context.js'
import {
  AdmissionControl, UsageCounters, type Admission, type Operation, type RateState,
} from '../../../lib/operations/admission.js'
import { ProcessRates, type RateCounts } from '../../../lib/operations/rate-counts.js'
import { NO_TELEMETRY } from '../../../lib/base/telemetry.js'
import { testClock } from '../../helpers/clock.js'
import { bankResolver } from '../../helpers/settings.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const ALICE: RequestContext = { principal: 'user:alice', tenantId: null }
const BOB: RequestContext = { principal: 'user:bob', tenantId: null }
const HOME: BankKey = { tenantId: null, bankId: 'home' }
const WORK: BankKey = { tenantId: null, bankId: 'work' }

/** Admission on banks by name. */
interface KeyedAdmission {
  admit (operation: Operation, context: RequestContext, banks: readonly BankKey[], items?: number): Promise<Admission>
}

function control (
  homeostasis: FileConfig['homeostasis'] = {}, banks: FileConfig['banks'] = {}, rates?: RateCounts,
) {
  const clock = testClock()
  const resolve = bankResolver({ homeostasis, banks })
  const control = new AdmissionControl(clock, NO_TELEMETRY, new UsageCounters(), rates)
  let noted: readonly RateState[] | undefined
  const noteRates = (states: readonly RateState[]) => { noted = states }
  const admit: KeyedAdmission['admit'] = async (operation, context, keys, items) => {
    noted = undefined
    return await control.admit(operation, { context, noteRates }, keys.map(resolve), items)
  }
  return { clock, admission: { admit }, states: () => noted }
}

/** The number of consecutive operations that are admitted. */
async function admitted (
  admission: KeyedAdmission, operation: Operation = 'recall', context = ALICE, bank = HOME,
): Promise<number> {
  let count = 0
  while (count < 1000 && await isAdmitted(async () => await admission.admit(operation, context, [bank]))) count++
  return count
}

async function isAdmitted (admit: () => Promise<unknown>): Promise<boolean> {
  try {
    await admit()
    return true
  } catch (error) {
    if (error instanceof ServiceError && ['rate_limited', 'quota_exceeded'].includes(error.code)) return false
    throw error
  }
}

function refusal (code: 'rate_limited' | 'quota_exceeded', detail: string, seconds: number) {
  return { code, detail, retryAfterSeconds: seconds }
}

t.test('without limits everything is admitted', async (t) => {
  t.equal(await admitted(control(undefined).admission), 1000)
  t.equal(await admitted(control({ recall_max_tokens: 5, rate_limits: {}, quotas: {} }).admission), 1000)
})

t.test('a limit is for a minute of the clock', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  clock.set('2026-01-15T10:00:20.000Z')
  t.equal(await admitted(admission), 6)
  clock.set('2026-01-15T10:00:59.999Z')
  t.equal(await admitted(admission), 0)
  clock.set('2026-01-15T10:01:00.000Z')
  t.equal(await admitted(admission), 6)
  clock.advance(HOUR)
  t.equal(await admitted(admission), 6, 'what was not used is not kept')
})

t.test('a refusal names the limit, and the seconds after which a retry succeeds', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  await admitted(admission)
  for (const [after, seconds] of [[0, 60], [1, 60], [999, 59], [58_500, 1]] as const) {
    clock.advance(after)
    await t.rejects(
      async () => await admission.admit('recall', ALICE, [HOME]),
      refusal('rate_limited', `The limit recall_per_minute (6) is used up; try again in ${seconds} s`, seconds),
    )
  }
  clock.advance(SECOND)
  await admission.admit('recall', ALICE, [HOME])
})

t.test('a refusal costs nothing', async (t) => {
  const { admission } = control({ rate_limits: { retain_per_minute: 10 } })
  await admission.admit('retain', ALICE, [HOME], 4)
  for (let round = 0; round < 5; round++) {
    await t.rejects(async () => await admission.admit('retain', ALICE, [HOME], 7), { code: 'rate_limited' })
  }
  t.equal(await admitted(admission, 'retain'), 6)
})

t.test('another limit takes effect at once, also on what was counted before', async (t) => {
  const rates = new ProcessRates()
  const of = (limit: number) => control({ rate_limits: { recall_per_minute: limit } }, {}, rates).admission
  t.equal(await admitted(of(3)), 3)
  t.equal(await admitted(of(5)), 2)
  t.equal(await admitted(of(4)), 0)
})

t.test('operations in progress together get exactly the limit', async (t) => {
  const { admission } = control({ rate_limits: { recall_per_minute: 100, global_per_minute: 120 } })
  const outcomes = await Promise.all(Array.from({ length: 400 }, async () => (
    await isAdmitted(async () => await admission.admit('recall', ALICE, [HOME]))
  )))
  t.equal(outcomes.filter(Boolean).length, 100)
  t.equal(await admitted(admission, 'forget'), 20, 'the refused ones took nothing')
})

t.test('the caller learns the state of each limit, of several banks that with the least left', async (t) => {
  const { admission, clock, states } = control(
    { rate_limits: { recall_per_minute: 3, global_per_minute: 10 } },
    { work: { homeostasis: { rate_limits: { recall_per_minute: 5 } } } },
  )
  clock.advance(17_500)
  const state = (scope: string, perMinute: number, remaining: number) => (
    { scope, perMinute, remaining, resetSeconds: 43 }
  )
  await admission.admit('recall', ALICE, [HOME])
  t.same(states(), [state('recall', 3, 2), state('global', 10, 9)])
  await admission.admit('forget', ALICE, [HOME])
  t.same(states(), [state('global', 10, 8)])
  await admission.admit('recall', ALICE, [WORK, HOME])
  t.same(states(), [state('recall', 3, 1), state('global', 10, 7)])
  await admission.admit('recall', ALICE, [HOME])
  await t.rejects(async () => await admission.admit('recall', ALICE, [HOME]), { code: 'rate_limited' })
  t.same(states(), [state('recall', 3, 0)], 'a refusal tells the limit that refused')
  await control({ quotas: { retain_per_day: 3 } }).admission.admit('retain', ALICE, [HOME])
  const other = control()
  await other.admission.admit('recall', ALICE, [HOME])
  t.equal(other.states(), undefined)
})

t.test('a place of counts that fails charges nothing, and its error reaches the caller', async (t) => {
  const rates = new ProcessRates()
  let isDown = true
  const failing: RateCounts = {
    add: async (use) => {
      if (isDown && use.key.includes(' global ')) throw new ServiceError('dependency_unavailable', 'down')
      return await rates.add(use)
    },
  }
  const { admission } = control({ rate_limits: { recall_per_minute: 2, global_per_minute: 9 } }, {}, failing)
  for (let round = 0; round < 3; round++) {
    await t.rejects(async () => await admission.admit('recall', ALICE, [HOME]), { code: 'dependency_unavailable' })
  }
  isDown = false
  t.equal(await admitted(admission), 2)
})

t.test('each operation, principal, bank and tenant has a bucket of its own', async (t) => {
  const { admission } = control({
    rate_limits: { recall_per_minute: 2, retain_per_minute: 3, forget_per_minute: 4, reflect_per_minute: 5 },
  })
  t.equal(await admitted(admission, 'recall'), 2)
  t.equal(await admitted(admission, 'retain'), 3)
  t.equal(await admitted(admission, 'forget'), 4)
  t.equal(await admitted(admission, 'reflect'), 5)
  for (const [about, context, bank] of [
    ['another principal', BOB, HOME],
    ['nobody', { tenantId: null }, HOME],
    ['another bank', ALICE, WORK],
    ['another tenant', { ...ALICE, tenantId: 'acme' }, { ...HOME, tenantId: 'acme' }],
    ['a tenant called null', { ...ALICE, tenantId: 'null' }, { ...HOME, tenantId: 'null' }],
  ] as const) t.equal(await admitted(admission, 'recall', context, bank), 2, about)
})

t.test('the global limit counts operations of every kind together, beside their own limits', async (t) => {
  const { admission } = control({ rate_limits: { recall_per_minute: 2, global_per_minute: 5 } })
  t.equal(await admitted(admission, 'recall'), 2)
  t.equal(await admitted(admission, 'forget'), 3)
  await t.rejects(
    async () => await admission.admit('retain', ALICE, [HOME]),
    refusal('rate_limited', 'The limit global_per_minute (5) is used up; try again in 60 s', 60),
  )
  await t.rejects(
    async () => await admission.admit('recall', ALICE, [HOME]),
    refusal('rate_limited', 'The limit recall_per_minute (2) is used up; try again in 60 s', 60),
    'of several, the operation\'s own is named',
  )
  t.equal(await admitted(admission, 'forget', BOB), 5, 'for each principal')
})

t.test('an operation on several banks is charged on all of them or on none', async (t) => {
  const { admission } = control({ rate_limits: { recall_per_minute: 3 } })
  t.equal(await admitted(admission, 'recall', ALICE, WORK), 3)
  await t.rejects(async () => await admission.admit('recall', ALICE, [HOME, WORK]), { code: 'rate_limited' })
  await t.rejects(async () => await admission.admit('recall', ALICE, [WORK, HOME]), { code: 'rate_limited' })
  t.equal(await admitted(admission, 'recall', ALICE, HOME), 3, 'the refused ones were not charged')

  const other = control({ rate_limits: { recall_per_minute: 3 } }).admission
  await other.admit('recall', ALICE, [HOME, WORK])
  t.strictSame([await admitted(other, 'recall', ALICE, HOME), await admitted(other, 'recall', ALICE, WORK)], [2, 2])
})

t.test('a batch counts each of its items, and is admitted as a whole or not at all', async (t) => {
  const { admission } = control({ rate_limits: { retain_per_minute: 10 }, quotas: { retain_per_day: 1000 } })
  await admission.admit('retain', ALICE, [HOME], 7)
  await t.rejects(
    async () => await admission.admit('retain', ALICE, [HOME], 4),
    refusal('rate_limited', 'The limit retain_per_minute (10) is used up; try again in 60 s', 60),
  )
  await admission.admit('retain', ALICE, [HOME], 3)
  t.equal(await admitted(admission, 'retain'), 0)
})

t.test('a batch that exceeds a limit by itself is invalid, because waiting would not help', async (t) => {
  const tooMany = (name: string, limit: number) => ({
    code: 'invalid_request', detail: `items: are more than ${name} (${limit}) allows; split the batch`,
  })
  const rate = control({ rate_limits: { retain_per_minute: 10 } }).admission
  await t.rejects(async () => await rate.admit('retain', ALICE, [HOME], 11), tooMany('retain_per_minute', 10))
  t.equal(await admitted(rate, 'retain'), 10, 'and costs nothing')
  const global = control({ rate_limits: { retain_per_minute: 100, global_per_minute: 10 } }).admission
  await t.rejects(async () => await global.admit('retain', ALICE, [HOME], 11), tooMany('global_per_minute', 10))
  const quota = control({ quotas: { retain_per_day: 10 } }).admission
  await t.rejects(async () => await quota.admit('retain', ALICE, [HOME], 11), tooMany('retain_per_day', 10))
})

t.test('a quota counts one UTC day, for all principals of a bank together', async (t) => {
  const { admission, clock } = control({ quotas: { retain_per_day: 3, reflect_per_day: 1 } })
  clock.set('2026-01-15T23:59:30.000Z')
  await admission.admit('retain', ALICE, [HOME], 2)
  await admission.admit('retain', BOB, [HOME])
  await t.rejects(
    async () => await admission.admit('retain', ALICE, [HOME]),
    refusal('quota_exceeded', 'The limit retain_per_day (3) is used up; try again in 30 s', 30),
  )
  t.equal(await admitted(admission, 'reflect'), 1)
  t.equal(await admitted(admission, 'reflect'), 0)
  t.equal(await admitted(admission, 'retain', ALICE, WORK), 3, 'another bank')
  t.equal(
    await admitted(admission, 'retain', { ...ALICE, tenantId: 'acme' }, { ...HOME, tenantId: 'acme' }), 3,
    'another tenant',
  )
  t.equal(await admitted(admission, 'recall'), 1000, 'recall has no quota')
  clock.set('2026-01-15T23:59:59.999Z')
  t.equal(await admitted(admission, 'retain'), 0)
  clock.set('2026-01-16T00:00:00.000Z')
  t.equal(await admitted(admission, 'retain'), 3)
  await t.rejects(
    async () => await admission.admit('retain', ALICE, [HOME]), { code: 'quota_exceeded', retryAfterSeconds: 86_400 },
  )
})

t.test('an operation without effect returns its quota, for its own day', async (t) => {
  const { admission, clock } = control({ quotas: { retain_per_day: 3 } })
  const first = await admission.admit('retain', ALICE, [HOME], 2)
  first.release()
  t.equal(await admitted(admission, 'retain'), 3)
  clock.set('2026-01-15T23:59:59.999Z')
  t.equal(await admitted(admission, 'retain'), 0)
  clock.set('2026-01-16T00:00:00.000Z')
  const late = await admission.admit('retain', ALICE, [HOME], 2)
  clock.set('2026-01-17T00:00:00.000Z')
  t.equal(await admitted(admission, 'retain'), 3)
  late.release()
  t.equal(await admitted(admission, 'retain'), 0, 'a release for yesterday returns nothing for today')
})

t.test('a release does not return rate tokens, so a failing caller is limited too', async (t) => {
  const { admission } = control({ rate_limits: { retain_per_minute: 2 } })
  ;(await admission.admit('retain', ALICE, [HOME])).release()
  t.equal(await admitted(admission, 'retain'), 1)
})

t.test('a refused quota leaves the rate limits unchanged', async (t) => {
  const { admission, clock } = control({ rate_limits: { retain_per_minute: 2 }, quotas: { retain_per_day: 1 } })
  t.equal(await admitted(admission, 'retain'), 1)
  for (let attempt = 0; attempt < 5; attempt++) {
    await t.rejects(async () => await admission.admit('retain', ALICE, [HOME]), { code: 'quota_exceeded' })
  }
  clock.set('2026-01-16T00:00:00.000Z')
  t.equal(await admitted(admission, 'retain'), 1)
})

t.test('a bank\'s own limits hold for it, and the other banks keep the general ones', async (t) => {
  const general = { rate_limits: { recall_per_minute: 2, forget_per_minute: 4 }, quotas: { retain_per_day: 5 } }
  const { admission } = control(general, {
    home: { homeostasis: { rate_limits: { recall_per_minute: 7 }, quotas: { retain_per_day: 1 } } },
    'w*': { homeostasis: { rate_limits: { recall_per_minute: 3 } } },
  })
  t.strictSame(
    [await admitted(admission, 'recall'), await admitted(admission, 'forget'), await admitted(admission, 'retain')],
    [7, 4, 1],
  )
  t.strictSame(
    [await admitted(admission, 'recall', ALICE, WORK), await admitted(admission, 'retain', ALICE, WORK)], [3, 5],
  )
  t.equal(await admitted(admission, 'recall', ALICE, { tenantId: null, bankId: 'other' }), 2)
})

t.test('a clock that is set back blocks no caller', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  t.equal(await admitted(admission), 6)
  clock.advance(-HOUR)
  t.equal(await admitted(admission), 6)
  clock.advance(MINUTE)
  t.equal(await admitted(admission), 6)
})

t.test('the counts of a process are bounded: of too many callers in a minute they begin anew', async (t) => {
  const rates = new ProcessRates()
  const add = async (key: string) => (await rates.add({ minute: 1, key, amount: 1 })).total
  t.equal(await add('first'), 1)
  const long = 'x'.repeat(20_000)
  for (let index = 0; index < 900; index++) await add(`${long} ${index}`)
  t.equal(await add('first'), 2)
  for (let index = 900; index < 1100; index++) await add(`${long} ${index}`)
  t.equal(await add('first'), 1)
})

t.test('what is given back after its minute does not count in the next one', async (t) => {
  const rates = new ProcessRates()
  const { giveBack } = await rates.add({ minute: 1, key: 'a', amount: 5 })
  t.equal((await rates.add({ minute: 2, key: 'a', amount: 1 })).total, 1)
  await giveBack()
  t.equal((await rates.add({ minute: 2, key: 'a', amount: 1 })).total, 2)
})
