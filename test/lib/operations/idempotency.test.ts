import t from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { BankKey, RequestContext } from '../../../lib/access/context.js'
import { IdempotencyService, type IdempotencyKey, type KeyedWrite } from '../../../lib/operations/idempotency.js'
import { recordText } from '../../../lib/stores/vector-store.js'
import { testClock, type TestClock } from '../../helpers/clock.js'

const DAY = 86_400_000
const TEAM: BankKey = { tenantId: null, bankId: 'team' }
const ALICE: RequestContext = { principal: 'user:alice', tenantId: null }
const REUSED = { code: 'idempotency_key_reused' }
const IN_FLIGHT = { code: 'idempotency_key_in_flight' }

interface Answer {
  n: number
}

interface Bench {
  clock: TestClock
  keys: Keys
  /** The number of executions. */
  done: () => number
  /** Work that answers how often it was done; under the key `k` of `POST /v1/retain` with the body `body`, by Alice. */
  call: (key?: Partial<IdempotencyKey>, context?: Partial<RequestContext>) => Promise<Answer>
}

/** The service, with work whose answer is its outcome. */
class Keys {
  readonly #service: IdempotencyService

  constructor (...given: ConstructorParameters<typeof IdempotencyService>) {
    this.#service = new IdempotencyService(...given)
  }

  async once<T> (
    key: IdempotencyKey | undefined, context: RequestContext, work: (keyed?: KeyedWrite) => Promise<T>,
    bankId = 'team',
  ): Promise<T> {
    return await this.#service.runOnce<null, T, T>(
      key, context, { tenantId: context.tenantId, bankId }, ({ outcome }) => outcome,
      async (keyed) => ({ context: null, outcome: await work(keyed) }),
    )
  }
}

function bench (): Bench {
  const clock = testClock()
  const keys = new Keys(clock)
  let count = 0
  return {
    clock,
    keys,
    done: () => count,
    call: async (key = {}, context = {}) => await keys.once(
      { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body', ...key },
      { ...ALICE, ...context },
      async () => ({ n: ++count }),
    ),
  }
}

/** Work that ends when the test says so. */
function slowWork () {
  let resolve!: (answer: Answer) => void
  const promise = new Promise<Answer>((_resolve) => { resolve = _resolve })
  return { promise, resolve }
}

t.test('without a key the work is done each time', async (t) => {
  const { keys } = bench()
  let count = 0
  for (const expected of [1, 2]) t.equal(await keys.once(undefined, ALICE, async () => ++count), expected)
})

t.test('a repeat gets the first answer again and does not execute the work', async (t) => {
  const { call, done } = bench()
  let replays = 0
  const onReplay = () => { replays++ }
  t.strictSame(await call({ onReplay }), { n: 1 })
  t.equal(replays, 0)
  t.strictSame(await call({ onReplay }), { n: 1 })
  t.strictSame(await call({ onReplay }), { n: 1 })
  t.equal(replays, 2, 'it is marked as an earlier answer')
  t.equal(done(), 1)
})

t.test('a caller that modifies an answer does not affect the next one', async (t) => {
  const { call } = bench()
  const first = await call()
  first.n = 99
  const second = await call()
  t.equal(second.n, 1)
  second.n = 77
  t.equal((await call()).n, 1)
})

t.test('the same key with another body is refused, and the first answer stays', async (t) => {
  const { call, done } = bench()
  await call()
  await t.rejects(call({ fingerprint: 'other' }), REUSED)
  t.strictSame(await call(), { n: 1 })
  t.equal(done(), 1)
})

t.test('a key is kept for 24 hours and is free afterwards', async (t) => {
  const { call, clock, done } = bench()
  await call()
  clock.advance(DAY - 1)
  t.strictSame(await call(), { n: 1 })
  await t.rejects(call({ fingerprint: 'other' }), REUSED)
  clock.advance(1)
  t.strictSame(await call({ fingerprint: 'other' }), { n: 2 })
  clock.advance(DAY - 1)
  t.strictSame(await call({ fingerprint: 'other' }), { n: 2 }, 'the 24 hours begin again')
  t.equal(done(), 2)
})

t.test('the 24 hours begin when the answer is complete', async (t) => {
  const { keys, clock, call } = bench()
  const work = slowWork()
  const first = keys.once(
    { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }, ALICE, async () => await work.promise,
  )
  clock.advance(DAY / 2)
  work.resolve({ n: 7 })
  await first
  clock.advance(DAY - 1)
  t.strictSame(await call(), { n: 7 })
})

t.test('a clock that is set back does not free a key', async (t) => {
  const { call, clock } = bench()
  await call()
  clock.advance(-DAY)
  t.strictSame(await call(), { n: 1 })
})

t.test('a key whose work is in progress is refused, whatever the body', async (t) => {
  const { keys, call, done } = bench()
  const work = slowWork()
  const first = keys.once(
    { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }, ALICE, async () => await work.promise,
  )
  await t.rejects(call(), IN_FLIGHT)
  await t.rejects(call({ fingerprint: 'other' }), REUSED)
  t.equal(done(), 0)
  work.resolve({ n: 7 })
  t.strictSame(await first, { n: 7 })
  t.strictSame(await call(), { n: 7 })
})

t.test('of concurrent identical calls only one does the work', async (t) => {
  const { call, done } = bench()
  const results = await Promise.allSettled(Array.from({ length: 20 }, async () => await call()))
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) if (result.status === 'rejected') t.match(result.reason, IN_FLIGHT)
  t.equal(done(), 1)
})

t.test('a failure is not stored, and the key is free again, for any body', async (t) => {
  const { keys, call } = bench()
  const failure = new ServiceError('dependency_unavailable', 'down')
  const key = { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }
  await t.rejects(keys.once(key, ALICE, async () => { throw failure }), failure)
  await t.rejects(keys.once(key, ALICE, () => { throw failure }), failure, 'thrown at once, too')
  t.strictSame(await call({ fingerprint: 'other' }), { n: 1 })
})

t.test('a failure after the 24 hours does not bring the old answer back', async (t) => {
  const { keys, clock, call } = bench()
  await call()
  clock.advance(DAY)
  await t.rejects(keys.once(
    { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }, ALICE, async () => { throw new Error('no') },
  ))
  t.strictSame(await call(), { n: 2 })
})

const OTHERS: Array<[about: string, key: Partial<IdempotencyKey>, context: Partial<RequestContext>]> = [
  ['another key', { key: 'k2' }, {}],
  ['another case of the key', { key: 'K' }, {}],
  ['another operation', { operation: 'POST /v1/forget' }, {}],
  ['another method', { operation: 'PUT /v1/retain' }, {}],
  ['another principal', {}, { principal: 'user:bob' }],
  ['a tenant', {}, { tenantId: 'acme' }],
  ['a tenant called null', {}, { tenantId: 'null' }],
  ['a principal who acts for somebody', {}, { onBehalfOf: 'user:bob' }],
]

for (const [about, key, context] of OTHERS) {
  t.test(`${about} is another key`, async (t) => {
    const { call } = bench()
    t.strictSame(await call(), { n: 1 })
    t.strictSame(await call({ fingerprint: 'other', ...key }, context), { n: 2 })
    t.strictSame(await call(), { n: 1 })
    t.strictSame(await call({ fingerprint: 'other', ...key }, context), { n: 2 })
  })
}

t.test('the same key on another bank is another key', async (t) => {
  const { keys, call } = bench()
  const key = { key: 'k', operation: 'POST /v1/retain', fingerprint: 'other' }
  t.strictSame(await call(), { n: 1 })
  t.strictSame(await keys.once(key, ALICE, async () => ({ n: 2 }), 'other'), { n: 2 })
  t.strictSame(await call(), { n: 1 })
  t.strictSame(await keys.once(key, ALICE, async () => ({ n: 3 }), 'other'), { n: 2 })
})

t.test('an anonymous caller differs from principals named null or the empty text', async (t) => {
  const { keys } = bench()
  const key = { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }
  for (const [index, context] of [
    { tenantId: null }, { tenantId: null, principal: 'null' }, { tenantId: null, principal: '""' },
  ].entries()) {
    t.equal(await keys.once(key, context, async () => index), index)
  }
})

t.test('no character of a name is interpreted as a separator', async (t) => {
  for (const separator of [',', '","', ':', '|', '/', ' ', '\n', '\u0000', '\u001f', '\\']) {
    const { call } = bench()
    const about = JSON.stringify(separator)
    t.strictSame(await call({ operation: `a${separator}b`, key: 'c' }), { n: 1 }, about)
    t.strictSame(await call({ operation: 'a', key: `b${separator}c`, fingerprint: 'other' }), { n: 2 }, about)
    t.strictSame(await call({}, { principal: `a${separator}b`, onBehalfOf: 'c' }), { n: 3 }, about)
    t.strictSame(
      await call({ fingerprint: 'other' }, { principal: 'a', onBehalfOf: `b${separator}c` }), { n: 4 }, about,
    )
    t.strictSame(await call({}, { tenantId: `a${separator}b`, principal: 'c' }), { n: 5 }, about)
    t.strictSame(await call({ fingerprint: 'other' }, { tenantId: 'a', principal: `b${separator}c` }), { n: 6 }, about)
  }
})

/** A store that has the record of one key. */
function storeWith (text: string) {
  return { findIdempotencyRecord: async () => ({ requestFingerprint: 'body', text }) }
}

const KEY: IdempotencyKey = { key: 'k', operation: 'POST /v1/retain', fingerprint: 'body' }
const noWork = async () => { throw new Error('The work is done again') }
const sum = ({ context, outcome }: { context: number, outcome: number }) => context + outcome

t.test('a repeat is answered from the context and the outcome that the store has stored', async (t) => {
  const text = recordText({ key: 'k', requestFingerprint: 'body', context: '20' }, 3)
  const keys = new IdempotencyService(testClock(), storeWith(text))
  t.equal(await keys.runOnce(KEY, ALICE, TEAM, sum, noWork), 23)
  await t.rejects(keys.runOnce({ ...KEY, fingerprint: 'other' }, ALICE, TEAM, sum, noWork), REUSED)
})

t.test('a record of an unknown form is refused, and the work is not done again', async (t) => {
  for (const text of ['{"answer":1}', '{"context":1}', 'null']) {
    const keys = new IdempotencyService(testClock(), storeWith(text))
    await t.rejects(keys.runOnce(KEY, ALICE, TEAM, sum, noWork), /has an unknown form/)
  }
})

t.test('beyond the memory for answers the caller with most loses its oldest, and others lose none', async (t) => {
  const keys = new Keys(testClock())
  let done = 0
  const once = async (principal: string, key: string, length: number) => {
    const before = done
    const context = { principal, tenantId: null }
    await keys.once({ key, operation: 'POST /v1/retain', fingerprint: 'body' }, context, async () => {
      done++
      return 'x'.repeat(length)
    })
    return done > before ? 'done' : 'replayed'
  }
  await once('user:alice', 'first', 1000)
  for (let index = 0; index < 40; index++) await once('user:mallory', `key ${index}`, 1_000_000)
  t.equal(await once('user:alice', 'first', 1000), 'replayed')
  t.equal(await once('user:mallory', 'key 39', 1_000_000), 'replayed')
  t.equal(await once('user:mallory', 'key 30', 1_000_000), 'replayed')
  t.equal(await once('user:mallory', 'key 0', 1_000_000), 'done')
  t.equal(await once('user:bob', 'huge', 20_000_000), 'done')
  t.equal(await once('user:bob', 'huge', 20_000_000), 'done', 'an answer that alone exceeds it is not kept')
  t.equal(await once('user:alice', 'first', 1000), 'replayed')
})
