import t from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { detached, errorType, openSpan, traced } from '../../../lib/base/tracing.js'

await t.test('without an SDK the work runs unchanged', async (t) => {
  t.equal(await traced('work', { n: 1 }, async (span) => {
    span.set({ m: 2 })
    return 7
  }), 7)
  const fault = new Error('fault')
  t.equal(await traced('work', {}, async () => { throw fault }).catch((error: unknown) => error), fault)
  t.equal(detached(() => 5), 5)
  const span = openSpan('work')
  t.equal(span.within(() => 3), 3)
  span.end(fault)
})

await t.test('an error is named by its code, its kind or its class, and never by its message', async (t) => {
  class Odd extends Error {}
  const cases: Array<[error: unknown, name: string]> = [
    [new ServiceError('not_found', 'No memory zanzibar'), 'not_found'],
    [new ModelCallError('timeout', 'The endpoint did not answer'), 'timeout'],
    [new TypeError('zanzibar'), 'TypeError'],
    [new Odd('zanzibar'), 'Error'],
    [Object.assign(new Error('x'), { name: 'a sentence of words' }), 'Error'],
    [Object.assign(new Error('x'), { kind: 'x'.repeat(61) }), 'Error'],
    [Object.assign(new Error('x'), { kind: 5 }), 'Error'],
    ['zanzibar', 'unknown'],
    [undefined, 'unknown'],
  ]
  for (const [error, name] of cases) t.equal(errorType(error), name)
})
