import t from 'tap'
import { Deadline } from '../../../lib/concurrency/deadline.js'
import { systemFlow } from '../../../lib/concurrency/system-flow.js'
import { turns } from '../../../lib/concurrency/turn-budget.js'
import {
  bankKeyString, callerOf, isBankId, isPrincipal, isTenant, OPERATOR,
} from '../../../lib/identity/context.js'
import fc, { runs } from '../../helpers/fast-check.js'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme-ascii' }))
const tenantId = fc.option(text.filter(isTenant))
const principal = fc.option(text.filter(isPrincipal), { nil: undefined })
const bankId = fc.oneof(fc.constantFrom('deadlines', 'operator', 'operators'), text.filter(isBankId))

t.test('no caller and no bank has the key of a flow of the server', async () => {
  fc.assert(fc.property(tenantId, principal, bankId, (tenantId, principal, bankId) => {
    for (const key of [callerOf({ tenantId, principal }), bankKeyString({ tenantId, bankId })]) {
      // Whatever the prefix of the flows is, a name that makes it the key would be the rest of the key.
      for (let start = 0; start <= key.length; start++) {
        if (systemFlow(key.slice(start)) === key) throw new Error(`${JSON.stringify(key)} is a flow of the server`)
      }
      if (key === OPERATOR) throw new Error(`${JSON.stringify(key)} is the flow of operators`)
    }
  }), { numRuns: runs(500, 20_000) })
})

t.test('work on a bank called `deadlines` does not share the turns in which requests expire', async (t) => {
  const flow = await new Promise((resolve) => {
    const deadline = new Deadline(1)
    deadline.signal.addEventListener('abort', () => { resolve(turns.runningCaller) })
  })
  t.equal(flow, systemFlow('deadlines'))
  t.not(flow, bankKeyString({ tenantId: null, bankId: 'deadlines' }))
})
