import t from 'tap'
import { ModelHealth, type ModelStatus } from '../../../lib/models/health.js'
import { NO_TELEMETRY, type ModelCallRecord } from '../../../lib/base/telemetry.js'

function afterCalls (...outcomes: string[]): ModelHealth {
  const health = new ModelHealth(NO_TELEMETRY)
  for (const outcome of outcomes) {
    health.telemetry.modelCall({ kind: 'llm', provider: 'p', model: 'm', purpose: 'reflect', outcome, durationMs: 1 })
  }
  return health
}

const FIVE = Array.from({ length: 5 }, () => 'unreachable')
const breaker = (state: 'closed' | 'open' | 'half_open'): ModelStatus => ({ breaker: { state, tenantsOpen: 3 } })

const cases: Array<[what: string, outcomes: string[], status: ModelStatus, condition: string]> = [
  ['nothing', [], {}, 'unknown'],
  ['an answer', ['ok'], {}, 'ok'],
  ['a failure', ['ok', 'timeout'], {}, 'degraded'],
  ['a failure of any kind', ['error'], breaker('closed'), 'degraded'],
  ['an answer after failures', [...FIVE, 'ok'], {}, 'ok'],
  ['failures in a row', ['ok', ...FIVE], {}, 'failing'],
  ['failures in a row that left the circuit closed', FIVE, breaker('closed'), 'degraded'],
  ['calls that were given up', ['aborted', 'aborted'], {}, 'unknown'],
  ['calls that were not made', ['ok', 'circuit_open'], breaker('closed'), 'ok'],
  ['calls for which there was no room', ['ok', 'overloaded', 'overloaded'], breaker('closed'), 'ok'],
  ['nothing but calls for which there was no room', Array.from({ length: 5 }, () => 'overloaded'), {}, 'unknown'],
  [
    'failures with a call between them for which there was no room',
    ['ok', ...FIVE.slice(1), 'overloaded', 'unreachable'], {}, 'failing',
  ],
  ['an open circuit', ['ok'], breaker('open'), 'failing'],
  ['a circuit that is tried again', ['ok'], breaker('half_open'), 'degraded'],
  ['nothing, of one that asks nobody', [], { alwaysAvailable: true }, 'ok'],
]
for (const [what, outcomes, status, condition] of cases) {
  await t.test(`a model is ${condition} after ${what}`, async (t) => {
    t.equal(afterCalls(...outcomes).conditionOf('llm', status), condition)
  })
}

await t.test('each kind of model has its own status, which follows from its calls if it reports none', async (t) => {
  const health = afterCalls('ok')
  t.equal(health.conditionOf('embedding'), 'unknown')
  t.equal(health.conditionOf('llm'), 'ok')
})

await t.test('all records are passed on', async (t) => {
  const told: unknown[] = []
  const { telemetry } = new ModelHealth({
    stage: (...one) => { told.push(one) },
    refused: (what) => { told.push(what) },
    modelCall: (record) => { told.push(record) },
    extracted: (...one) => { told.push(one) },
  })
  const record: ModelCallRecord = {
    kind: 'reranker', provider: 'p', model: 'm', purpose: 'rerank', outcome: 'ok', durationMs: 1,
  }
  telemetry.stage('embed', 2)
  telemetry.refused('access')
  telemetry.modelCall(record)
  telemetry.extracted('done', 3)
  t.same(told, [['embed', 2], 'access', record, ['done', 3]])
})
