import fc from '../../helpers/fast-check.js'
import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { BankKey, RequestContext } from '../../../lib/access/context.js'
import { AdmissionControl, UsageCounters, type Admission, type Operation } from '../../../lib/operations/admission.js'
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

function control (homeostasis: FileConfig['homeostasis'] = {}, banks: FileConfig['banks'] = {}) {
  const clock = testClock()
  const resolve = bankResolver({ homeostasis, banks })
  const control = new AdmissionControl(clock, NO_TELEMETRY, new UsageCounters())
  const admit: KeyedAdmission['admit'] = (operation, context, keys, items) =>
    control.admit(operation, context, keys.map(resolve), items)
  return { clock, admission: { admit } }
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

t.test('a bucket holds a minute\'s worth and refills evenly', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  t.equal(await admitted(admission), 6)
  clock.advance(10 * SECOND - 1)
  t.equal(await admitted(admission), 0)
  clock.advance(1)
  t.equal(await admitted(admission), 1)
  clock.advance(25 * SECOND)
  t.equal(await admitted(admission), 2)
  clock.advance(5 * SECOND)
  t.equal(await admitted(admission), 1, 'the remaining half is not lost')
  clock.advance(HOUR)
  t.equal(await admitted(admission), 6, 'it never holds more than a minute\'s worth')
})

t.test('a refusal names the limit, and the seconds after which a retry succeeds', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  await admitted(admission)
  await t.rejects(
    async () => await admission.admit('recall', ALICE, [HOME]),
    refusal('rate_limited', 'The limit recall_per_minute (6) is used up; try again in 10 s', 10),
  )
  clock.advance(1)
  await t.rejects(
    async () => await admission.admit('recall', ALICE, [HOME]),
    refusal('rate_limited', 'The limit recall_per_minute (6) is used up; try again in 10 s', 10),
  )
  clock.advance(9500)
  await t.rejects(
    async () => await admission.admit('recall', ALICE, [HOME]),
    refusal('rate_limited', 'The limit recall_per_minute (6) is used up; try again in 1 s', 1),
  )
})

t.test('a caller that waits for retryAfterSeconds is admitted, for any limit at any time', async () => {
  const waits = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 10 })
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 90 }), waits, async (perMinute, waits) => {
    const { admission, clock } = control({ rate_limits: { recall_per_minute: perMinute } })
    for (const wait of waits) {
      clock.advance(wait)
      await admitted(admission)
      try {
        await admission.admit('recall', ALICE, [HOME])
      } catch (error) {
        clock.advance((error as ServiceError).retryAfterSeconds! * SECOND)
        await admission.admit('recall', ALICE, [HOME])
      }
    }
  }), { numRuns: 30 })
})

t.test('no token is lost to rounding, however small the steps in which a bucket refills', async (t) => {
  for (const perMinute of [1, 11, 43]) {
    const { admission, clock } = control({ rate_limits: { recall_per_minute: perMinute } })
    await admitted(admission)
    let count = 0
    for (let step = 0; step < 60; step++) {
      clock.advance(SECOND)
      count += await admitted(admission)
    }
    t.equal(count, perMinute, `${perMinute} a minute`)
  }
})

t.test('a refusal costs nothing', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 1 } })
  t.equal(await admitted(admission), 1)
  for (let second = 0; second < 59; second++) {
    clock.advance(SECOND)
    t.equal(await admitted(admission), 0)
  }
  clock.advance(SECOND)
  t.equal(await admitted(admission), 1)
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
    refusal('rate_limited', 'The limit global_per_minute (5) is used up; try again in 12 s', 12),
  )
  await t.rejects(
    async () => await admission.admit('recall', ALICE, [HOME]),
    refusal('rate_limited', 'The limit recall_per_minute (2) is used up; try again in 30 s', 30),
    'the longest of several waits is reported',
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
    refusal('rate_limited', 'The limit retain_per_minute (10) is used up; try again in 6 s', 6),
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

t.test('a clock that is set back removes no tokens and blocks no caller', async (t) => {
  const { admission, clock } = control({ rate_limits: { recall_per_minute: 6 } })
  await admission.admit('recall', ALICE, [HOME])
  clock.advance(-HOUR)
  t.equal(await admitted(admission), 5, 'the remaining tokens are kept')
  clock.advance(MINUTE)
  t.equal(await admitted(admission), 6)
  clock.advance(-HOUR)
  t.equal(await admitted(admission), 0, 'no tokens are gained either')
  clock.advance(10 * SECOND)
  t.equal(await admitted(admission), 1, 'an empty bucket refills from the new time on')
})

t.test('buckets of long names take no more memory than those of short ones', async (t) => {
  const { admission } = control({ rate_limits: { recall_per_minute: 1 } })
  const others = async (length: number) => {
    for (let index = 0; index < 40_000; index++) {
      await admission.admit('recall', { principal: `user:${index}`.padEnd(length, 'x'), tenantId: null }, [HOME])
    }
  }
  t.equal(await admitted(admission), 1)
  await others(20)
  t.equal(await admitted(admission), 0, 'as many with short names are kept')
  await others(250)
  t.equal(await admitted(admission), 1, 'with long names some were forgotten')
})
