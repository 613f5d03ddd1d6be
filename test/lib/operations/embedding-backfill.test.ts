import t, { type Test } from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import type { BankKey } from '../../../lib/access/context.js'
import { EmbeddingBackfill, type EmbeddingBackfillOptions } from '../../../lib/operations/embedding-backfill.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import type { NewMemory, Unembedded } from '../../../lib/stores/vector-store.js'
import { SteeredEmbeddings, SteeredTime } from '../../fixtures/steered-embeddings.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'

const HOME: BankKey = { tenantId: null, bankId: 'home' }
const AWAY: BankKey = { tenantId: 'acme', bankId: 'home' }

class CountingStore extends InMemoryVectorStore {
  scans = 0
  down = false

  override async listUnembedded (request: Parameters<InMemoryVectorStore['listUnembedded']>[0]): Promise<Unembedded[]> {
    if (this.down) {
      throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', {
        cause: new Error('ECONNREFUSED'),
      })
    }
    if (request.after === undefined) this.scans++
    return await super.listUnembedded(request)
  }
}

function setUp (t: Test, more: Partial<EmbeddingBackfillOptions> = {}) {
  const store = new CountingStore()
  const embeddings = new SteeredEmbeddings()
  const time = new SteeredTime()
  const log: string[] = []
  const say = (message: string) => { log.push(message) }
  const filler = new EmbeddingBackfill({
    store, embeddings, clock: () => NOW, warn: say, info: say, schedule: time.schedule, random: () => 1, ...more,
  })
  t.teardown(async () => { await filler.stop() })
  const write = async (texts: string[], bank = HOME): Promise<NewMemory[]> => {
    const memories = await newMemories(texts)
    await store.insert(bank, memories, { now: NOW })
    return memories
  }
  const lacking = async () => (await store.listUnembedded({ now: NOW, limit: 1000 })).map(({ memory }) => memory.text)
  const found = async (concept: readonly number[], bank = HOME) => (await store.search({
    banks: [bank], now: NOW, filters: {}, semantic: { vector: Float32Array.from(concept) }, limit: 10,
  }))
    .semantic!.filter(({ score }) => score > 0).map(({ memory }) => memory.text)
  return { store, embeddings, time, log, filler, write, lacking, found }
}

t.test('without pending memories the backfill is idle', async (t) => {
  const { filler, embeddings } = setUp(t)
  await filler.idle()
  filler.enqueue(HOME, [])
  await filler.idle()
  t.strictSame(embeddings.calls, [])
})

t.test('added memories get their vectors, in batches of one bank', async (t) => {
  const { filler, embeddings, write, lacking, found, store } = setUp(t)
  const home = await write(Array.from({ length: 40 }, (_, index) => `rain ${index}`))
  const away = await write(['car'], AWAY)
  filler.enqueue(HOME, home.slice(0, 1))
  filler.enqueue(AWAY, away)
  filler.enqueue(HOME, home.slice(1))
  await filler.idle()
  t.strictSame(await lacking(), [])
  t.strictSame(embeddings.calls.map(({ length }) => length), [1, 1, 32, 7])
  t.strictSame(await found([0, 1, 0], AWAY), ['car'])
  t.equal(store.scans, 1, 'only the test itself has listed memories')
})

t.test('a memory of many passages is embedded passage by passage', async (t) => {
  const { filler, store, embeddings, lacking } = setUp(t)
  const long = await newMemory(
    `${'It will rain. '.repeat(40)}${'The car is red. '.repeat(40)}`, { chunkMaxCharacters: 200 },
  )
  await store.insert(HOME, [long], { now: NOW })
  filler.enqueue(HOME, [long])
  await filler.idle()
  t.ok(long.passages.length > 2)
  t.strictSame(embeddings.calls, [long.passages.map(({ start, end }) => long.text.slice(start, end))])
  t.strictSame(await lacking(), [])
})

t.test('memories that did not fit into the queue are found by a scan', async (t) => {
  const { filler, embeddings, write, lacking } = setUp(t)
  const release = embeddings.hold()
  const texts = Array.from({ length: 600 }, (_, index) => `weather ${index}`)
  const called = embeddings.called()
  filler.enqueue(HOME, await write(texts.slice(0, 1)))
  await called
  // The first one alone is as long as the backlog may be.
  const rest = (await write(texts.slice(1))).map((memory, index) => (
    index === 0 ? { ...memory, text: memory.text.padEnd(16_000_000) } : memory
  ))
  filler.enqueue(HOME, rest)
  t.equal(filler.pending, 2)
  release()
  await filler.idle()
  t.strictSame(await lacking(), [])
})

t.test('memories from before the start are found, over all banks and pages', async (t) => {
  const { filler, write, lacking, embeddings } = setUp(t)
  await write(Array.from({ length: 300 }, (_, index) => `umbrella ${index}`))
  await write(['garage'], AWAY)
  filler.requestScan()
  await filler.idle()
  t.strictSame(await lacking(), [])
  t.equal(embeddings.calls.flat().length, 301, 'each once')
})

t.test('a failing provider is called again after longer and longer pauses, with one warning', async (t) => {
  const { filler, embeddings, time, write, log, lacking } = setUp(t)
  embeddings.failure = new Error('401 with key sk-secret')
  filler.enqueue(HOME, await write(['doctor', 'car', 'rain']))
  for (let round = 0; round < 8; round++) await time.pass()
  await time.pausing()
  t.strictSame(time.pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  t.strictSame(embeddings.calls.slice(0, 3).map(({ length }) => length), [3, 1, 1], 'it is probed with a small batch')
  t.equal(log.length, 1)
  t.match(log[0], /^embedding_provider: vectors cannot be made \(The embedding provider is unavailable: Error\)/)
  t.equal(filler.isFailing, true)

  embeddings.failure = undefined
  await write(['automobile'])
  await time.pass()
  await filler.idle()
  t.strictSame(await lacking(), [], 'other memories are found by the scan after the recovery')
  t.equal(log.length, 2)
  t.match(log[1], /vectors are made again/)
  t.equal(filler.isFailing, false)
  t.notMatch(log.join(), /sk-secret|doctor/)
})

t.test('a provider that asks for a longer pause is not called before it is over, for an hour at most', async (t) => {
  const { filler, embeddings, time, write, lacking } = setUp(t)
  const refusal = (retryAfterMs: number) => new ModelCallError('rate_limited', '429', { status: 429, retryAfterMs })
  embeddings.failure = refusal(600_000)
  filler.enqueue(HOME, await write(['doctor', 'car']))
  await time.pausing()
  filler.enqueue(HOME, await write(['rain']))
  t.equal(embeddings.calls.length, 1, 'a new memory does not end the pause')
  embeddings.failure = refusal(86_400_000)
  await time.pass()
  await time.pausing()
  t.strictSame(time.pauses, [601_000, 3_602_000], 'jitter is added, so that many servers do not return together')
  embeddings.failure = undefined
  await time.pass()
  await filler.idle()
  t.strictSame(await lacking(), [])
})

t.test('the pauses have random jitter of up to a half', async (t) => {
  const { filler, embeddings, time, write } = setUp(t, { random: () => 0 })
  embeddings.failure = new Error('down')
  filler.enqueue(HOME, await write(['doctor']))
  await time.pass()
  await time.pausing()
  t.strictSame(time.pauses, [500, 1000])
})

for (const [what, spoil] of [['is refused by the endpoint', 'poison'], ['gets unusable vectors', 'spoiled']] as const) {
  t.test(`a memory that ${what} does not stop the others and is not tried again`, async (t) => {
    const { filler, embeddings, time, write, log, lacking } = setUp(t)
    embeddings[spoil] = 'bad'
    const written = await write(['doctor', 'a bad car', 'rain', 'umbrella'])
    filler.enqueue(HOME, written)
    await time.pass()
    await filler.idle()
    t.strictSame(await lacking(), ['a bad car'])
    const refusals = log.filter((line) => line.includes('gets no vectors'))
    t.equal(refusals.length, 1)
    t.match(refusals[0], `the memory ${written[1]!.memoryId} of the bank home`)
    t.notMatch(log.join(), /bad car/)

    const calls = embeddings.calls.length
    filler.requestScan()
    await filler.idle()
    t.equal(embeddings.calls.length, calls, 'a later scan does not add it again')
    await write(['physician'])
    filler.requestScan()
    await filler.idle()
    t.strictSame(await lacking(), ['a bad car'])
  })
}

t.test('a single memory with unusable vectors is tried once more and not again', async (t) => {
  const { filler, embeddings, time, write, log } = setUp(t)
  embeddings.spoiled = 'bad'
  filler.enqueue(HOME, await write(['bad']))
  await time.pass()
  await filler.idle()
  t.equal(embeddings.calls.length, 2)
  t.equal(log.filter((line) => line.includes('gets no vectors')).length, 1)
})

t.test('a provider whose vectors are all unusable does not make the backfill give up every memory', async (t) => {
  const { filler, embeddings, time, write, log, lacking } = setUp(t)
  embeddings.spoiled = 'e'
  filler.enqueue(HOME, await write(['one', 'the', 'bee', 'sea', 'pea', 'tea']))
  for (let round = 0; round < 10; round++) await time.pass()
  await time.pausing()
  t.equal(log.filter((line) => line.includes('gets no vectors')).length, 3)
  embeddings.spoiled = undefined
  await time.pass()
  await filler.idle()
  t.equal((await lacking()).length, 3)
})

t.test('a store that is down is called again', async (t) => {
  const { filler, store, time, write, log, lacking } = setUp(t)
  await write(['doctor'])
  store.down = true
  filler.requestScan()
  await time.pass()
  await time.pausing()
  t.equal(log.length, 1)
  t.match(log[0], /cannot be looked for \(The vector store is unavailable: Error\)/)
  store.down = false
  await time.pass()
  await filler.idle()
  t.strictSame(await lacking(), [])
  t.equal(filler.isFailing, false)
})

t.test('a memory whose text is replaced never gets the vectors of the old text', async (t) => {
  const { filler, store, embeddings, write, found, lacking } = setUp(t)
  const [old] = await write(['It will rain.'])
  const replacement = { ...await newMemory('My car is red.'), memoryId: old!.memoryId }
  const release = embeddings.hold()
  const called = embeddings.called()
  filler.enqueue(HOME, [old!])
  await called
  await filler.runReplacement(HOME, [old!.memoryId], async () => {
    release()
    await store.import(HOME, [replacement], { now: NOW, onConflict: 'overwrite' })
    filler.enqueue(HOME, [replacement])
  })
  await filler.idle()
  t.strictSame(await found([0, 1, 0]), ['My car is red.'])
  t.strictSame(await found([0, 0, 1]), [])
  t.strictSame(await lacking(), [])
})

t.test('a page that was read before a text was replaced does not bring the old vector back', async (t) => {
  const { filler, store, write, found, embeddings } = setUp(t)
  const [old] = await write(['It will rain.'])
  const replacement = { ...await newMemory('My car is red.'), memoryId: old!.memoryId }
  const list = store.listUnembedded.bind(store)
  let pageRead!: () => void
  const read = new Promise<void>((resolve) => { pageRead = resolve })
  let goOn!: () => void
  const gate = new Promise<void>((resolve) => { goOn = resolve })
  store.listUnembedded = async (request) => {
    const page = await list(request)
    pageRead()
    await gate
    return page
  }
  filler.requestScan()
  await read
  await filler.runReplacement(HOME, [old!.memoryId], async () => {
    await store.import(HOME, [replacement], { now: NOW, onConflict: 'overwrite' })
  })
  goOn()
  await filler.idle()
  t.strictSame(embeddings.calls, [['My car is red.']])
  t.strictSame(await found([0, 0, 1]), [])
})

t.test('a failed replacement does not prevent the vectors of the old text', async (t) => {
  const { filler, embeddings, write, lacking } = setUp(t)
  const [old] = await write(['It will rain.'])
  const release = embeddings.hold()
  const called = embeddings.called()
  filler.enqueue(HOME, [old!])
  await called
  await t.rejects(filler.runReplacement(HOME, [old!.memoryId], async () => {
    release()
    throw new Error('no room')
  }), new Error('no room'))
  await filler.idle()
  t.strictSame(await lacking(), [])
})

t.test('the backfill can be stopped while the provider is busy, during a pause, and twice', async (t) => {
  const busy = setUp(t)
  busy.embeddings.hold()
  const called = busy.embeddings.called()
  busy.filler.enqueue(HOME, await busy.write(['doctor']))
  await called
  const idle = busy.filler.idle()
  await busy.filler.stop()
  await idle
  t.strictSame(busy.log, [])
  busy.filler.enqueue(HOME, await busy.write(['car']))
  await busy.filler.idle()
  t.equal(busy.embeddings.calls.length, 1, 'no further work begins')

  const pausing = setUp(t)
  pausing.embeddings.failure = new Error('down')
  pausing.filler.enqueue(HOME, await pausing.write(['doctor']))
  await pausing.time.pausing()
  await pausing.filler.stop()
  await pausing.filler.stop()
  t.equal(pausing.time.waiting, 0)
})
