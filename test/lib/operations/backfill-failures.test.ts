import t, { type Test } from 'tap'
import { DeadlineExceeded } from '../../../lib/base/deadline.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import { EmbeddingBackfill } from '../../../lib/operations/embedding-backfill.js'
import type { EmbedOptions } from '../../../lib/models/embedding-provider.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { SteeredEmbeddings, SteeredTime } from '../../fixtures/steered-embeddings.js'
import { newMemories, NOW } from '../../helpers/memories.js'

const HOME = { tenantId: null, bankId: 'home' }

/** The calls fail for which the function returns an error. */
class FailingEmbeddings extends SteeredEmbeddings {
  fail: (texts: readonly string[], call: number) => Error | undefined = () => undefined

  override async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    this.failure = this.fail(texts, this.calls.length)
    return await super.embed(texts, options)
  }
}

/** Every second call that attaches vectors fails. */
class FlakyStore extends InMemoryVectorStore {
  #calls = 0

  override async attachVectors (...args: Parameters<InMemoryVectorStore['attachVectors']>): Promise<number> {
    if (this.#calls++ % 2 === 0) {
      throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause: new Error('reset') })
    }
    return await super.attachVectors(...args)
  }
}

function setUp (t: Test, store = new InMemoryVectorStore()) {
  const embeddings = new FailingEmbeddings()
  const time = new SteeredTime()
  const log: string[] = []
  const say = (message: string) => { log.push(message) }
  const backfill = new EmbeddingBackfill({
    store, embeddings, clock: () => NOW, warn: say, info: say, schedule: time.schedule, random: () => 1,
  })
  t.teardown(async () => { await backfill.stop() })
  return {
    embeddings,
    time,
    retain: async (...texts: string[]) => {
      const memories = await newMemories(texts)
      await store.insert(HOME, memories, { now: NOW })
      backfill.enqueue(HOME, memories)
    },
    /** Ends every pause until nothing waits. */
    idle: async () => {
      const idle = backfill.idle().then(() => true)
      while (!await Promise.race([idle, time.pass().then(() => false)]));
    },
    lacking: async () => (
      (await store.listUnembedded({ now: NOW, limit: 100 })).map(({ memory: { text } }) => text)
    ),
    givenUp: () => log.filter((line) => line.includes('gets no vectors')).length,
  }
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => `rain ${index}`)
const status = (code: number) => new ModelCallError('unreachable', `answered ${code}`, { status: code })

for (const [what, error] of [
  ['a rate limit', new ModelCallError('rate_limited', '429', { status: 429, retryAfterMs: 1000 })],
  ['a rate limit without a time', new ModelCallError('rate_limited', '429', { status: 429 })],
  ['status 503', status(503)],
  ['status 502 with a time', new ModelCallError('unreachable', '502', { status: 502, retryAfterMs: 1000 })],
  ['an open circuit', new ModelCallError('circuit_open', 'open', { retryAfterMs: 1000 })],
  ['a full queue of an endpoint', new ModelCallError('overloaded', 'full', { retryAfterMs: 1000 })],
  ['a full queue of threads', Object.assign(new Error('full'), { name: 'QueueFullError' })],
] as const) {
  t.test(`no memory is given up for ${what}, however often it fails between successes`, async (t) => {
    const { embeddings, retain, idle, lacking, givenUp } = setUp(t)
    // Each memory is refused six times alone, and each time after another has succeeded.
    const tries = new Map<string, number>()
    embeddings.fail = ([text]) => {
      tries.set(text!, (tries.get(text!) ?? 0) + 1)
      return tries.get(text!)! % 7 === 0 ? undefined : error
    }
    await retain(...texts(40))
    await idle()
    t.strictSame(await lacking(), [])
    t.equal(givenUp(), 0)
  })
}

t.test('a refused batch is sent as a whole again once one of its memories has succeeded', async (t) => {
  const { embeddings, time, retain, idle, lacking } = setUp(t)
  const refusal = new ModelCallError('rate_limited', '429', { status: 429, retryAfterMs: 5000 })
  embeddings.fail = (_, call) => call === 0 ? refusal : undefined
  await retain(...texts(20))
  await idle()
  t.strictSame(embeddings.calls.map(({ length }) => length), [20, 1, 19])
  t.strictSame(time.pauses, [6000])
  t.strictSame(await lacking(), [])
})

t.test('no memory is given up because the store fails between successes', async (t) => {
  const { time, retain, idle, lacking, givenUp } = setUp(t, new FlakyStore())
  for (const text of texts(10)) await retain(text)
  await idle()
  t.strictSame(await lacking(), [])
  t.equal(givenUp(), 0)
  t.ok(time.pauses.length > 0)
})

for (const [what, error] of [
  ['status 500', status(500)], ['a timeout', new ModelCallError('timeout', 'late')],
  ['no connection', new ModelCallError('unreachable', 'reset')],
  ['an error of a custom provider', new Error('too long')], ['a deadline', new DeadlineExceeded(10)],
] as const) {
  t.test(`a memory with ${what} is given up after it has failed alone five times between successes`, async (t) => {
    const { embeddings, time, retain, idle, lacking, givenUp } = setUp(t)
    embeddings.fail = (texts) => texts.some((text) => text.includes('bad')) ? error : undefined
    await retain('a bad car', 'rain')
    for (let others = 1; others < 5; others++) {
      t.equal(givenUp(), 0)
      // The memory is tried again and again while nothing else is there to tell whose fault it is.
      for (let round = 0; round < 6; round++) await time.pass()
      await time.pausing()
      t.equal(givenUp(), 0)
      await retain(`rain ${others}`)
    }
    await idle()
    t.strictSame(await lacking(), ['a bad car'])
    t.equal(givenUp(), 1)
  })
}

t.test('a memory is not given up for five failures while nothing succeeds', async (t) => {
  const { embeddings, time, retain, idle, lacking } = setUp(t)
  embeddings.fail = () => status(500)
  await retain('rain', 'car')
  for (let round = 0; round < 20; round++) await time.pass()
  embeddings.fail = () => undefined
  await idle()
  t.strictSame(await lacking(), [])
})
