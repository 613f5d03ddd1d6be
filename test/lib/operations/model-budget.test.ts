import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { BankKey } from '../../../lib/access/context.js'
import { AdmissionControl, UsageCounters } from '../../../lib/operations/admission.js'
import { NO_TELEMETRY } from '../../../lib/base/telemetry.js'
import { testClock } from '../../helpers/clock.js'
import { rejection } from '../../helpers/rejection.js'
import { bankResolver } from '../../helpers/settings.js'

const HOME: BankKey = { tenantId: null, bankId: 'home' }
const WORK: BankKey = { tenantId: null, bankId: 'work' }

function budget (quotas: NonNullable<
  NonNullable<FileConfig['homeostasis']>['quotas']
>, banks: NonNullable<FileConfig['banks']> = {}) {
  const clock = testClock()
  const resolve = bankResolver({ homeostasis: { quotas }, banks })
  const control = new AdmissionControl(clock, NO_TELEMETRY, new UsageCounters())
  return {
    clock,
    budget: {
      reserve: (keys: readonly BankKey[], tokens: () => number) => control.reserveModelCall(keys.map(resolve), tokens),
    },
  }
}

async function refusal (work: Promise<unknown>): Promise<ServiceError> {
  return await rejection(ServiceError, work)
}

t.test('without budgets nothing is counted, and the tokens are not computed', async (t) => {
  const { budget: free } = budget({ reflect_per_day: 1 })
  await t.resolves(async () => { (await free.reserve([HOME], () => { throw new Error('asked') })).settle(1e9, true) })
})

t.test('a call is counted before it is made, and refunded when it did not reach the model', async (t) => {
  const { budget: two, clock } = budget({ model_calls_per_day: 2 })
  ;(await two.reserve([HOME], () => 0)).settle(10, true)
  const failed = await two.reserve([HOME], () => 0)
  t.match(await refusal(two.reserve([HOME], () => 0)), {
    code: 'quota_exceeded', detail: /model_calls_per_day \(2\) is used up/, retryAfterSeconds: 14 * 3600,
  })
  failed.settle(0, false)
  await two.reserve([HOME], () => 0)
  t.ok(await refusal(two.reserve([HOME], () => 0)))
  clock.advance(14 * 3_600_000)
  await t.resolves(two.reserve([HOME], () => 0), 'a new day')
})

t.test('the maximum number of tokens is reserved, and unused ones are returned', async (t) => {
  const { budget: tokens } = budget({ model_tokens_per_day: 1000 })
  const first = await tokens.reserve([HOME], () => 600)
  t.match(
    await refusal(tokens.reserve([HOME], () => 600)),
    { code: 'quota_exceeded', detail: /model_tokens_per_day \(1000\)/ },
    'concurrent calls cannot spend the same remainder twice',
  )
  first.settle(100, true)
  ;(await tokens.reserve([HOME], () => 900)).settle(900, true)
  t.ok(await refusal(tokens.reserve([HOME], () => 1)))
})

t.test('a call that may take more tokens than a budget has is refused for good, and nothing is counted', async (t) => {
  const { budget: tokens } = budget({ model_tokens_per_day: 1000 })
  t.match(await refusal(tokens.reserve([HOME], () => 1001)), { code: 'invalid_request', retryAfterSeconds: undefined })
  await t.resolves(tokens.reserve([HOME], () => 1000))
})

t.test('a call that used more than was reserved counts in full', async (t) => {
  const { budget: tokens } = budget({ model_tokens_per_day: 100 })
  ;(await tokens.reserve([HOME], () => 10)).settle(100, true)
  t.ok(await refusal(tokens.reserve([HOME], () => 1)))
})

t.test('banks and tenants have their own budgets, and a call on several counts for each or for none', async (t) => {
  const { budget: calls } = budget({ model_calls_per_day: 1 }, {
    work: { homeostasis: { quotas: { model_calls_per_day: 2 } } },
  })
  await calls.reserve([HOME, WORK], () => 0)
  t.ok(await refusal(calls.reserve([WORK, HOME], () => 0)), 'the bank home has no tokens left')
  await t.resolves(calls.reserve([WORK], () => 0), 'the refused call was not counted for the bank work')
  t.ok(await refusal(calls.reserve([WORK], () => 0)))
  await t.resolves(calls.reserve([{ tenantId: 't', bankId: 'home' }], () => 0))
})

t.test('a call that is settled after midnight counts for its own day', async (t) => {
  const { budget: calls, clock } = budget({ model_calls_per_day: 1 })
  const late = await calls.reserve([HOME], () => 0)
  clock.advance(24 * 3_600_000)
  await calls.reserve([HOME], () => 0)
  late.settle(5, false)
  t.ok(await refusal(calls.reserve([HOME], () => 0)))
})

t.test('tokens are computed only when a budget needs them, and only for a call that was made', async (t) => {
  const notAsked = () => { throw new Error('asked') }
  const { budget: free } = budget({})
  await t.resolves(async () => { (await free.reserve([HOME], () => 0)).settle(notAsked, true) })
  const { budget: calls } = budget({ model_calls_per_day: 1 })
  await t.resolves(async () => { (await calls.reserve([HOME], () => 0)).settle(notAsked, true) })
  const { budget: tokens } = budget({ model_tokens_per_day: 100 })
  await t.resolves(async () => { (await tokens.reserve([HOME], () => 90)).settle(notAsked, false) })
  ;(await tokens.reserve([HOME], () => 90)).settle(() => 60, true)
  await t.resolves(tokens.reserve([HOME], () => 40))
  t.ok(await refusal(tokens.reserve([HOME], () => 1)))
})
