import { mock } from 'node:test'
import t from 'tap'
import { turns as sharedTurns } from '../../../../lib/concurrency/turn-budget.js'
import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import { bank, REMOVE } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { SteppedTurns } from './stepped-turns.js'

const home = bank('home')

t.test('a page of memories without vectors is of one moment, although the bank changes while it is read', async (t) => {
  const turns = new SteppedTurns()
  const store = new InMemoryVectorStore({ turns, maxSyncPostings: Infinity })
  const memories = await newMemories(Array.from({ length: 100 }, (_, index) => `memory ${index}`))
  await store.import(home, memories, { now: NOW, onConflict: 'skip' })
  const ids = memories.map(({ memoryId }) => memoryId)
  const listing = store.listUnembedded({ now: NOW, limit: 100 })
  for (let step = 0; step < 3; step++) await turns.step()
  // One that the listing has passed, and one that it has not reached.
  await store.remove(home, { kind: 'ids', memoryIds: [ids[0]!, ids[99]!] }, REMOVE)
  t.strictSame((await turns.finish(listing)).map(({ memory }) => memory.memoryId), ids.slice(1, 99))
})

t.test('a bank is not removed for a client that leaves while the removal waits for another write', async (t) => {
  const turns = new SteppedTurns()
  const store = new InMemoryVectorStore({ turns, maxSyncPostings: 0 })
  const writing = store.import(home, [await newMemory('one')], { now: NOW, onConflict: 'skip' })
  const leaving = new AbortController()
  const left = t.rejects(store.removeBank(home, NOW, leaving.signal), new Error('gone'))
  leaving.abort(new Error('gone'))
  await left
  t.match(await turns.finish(writing), { imported: 1 })
  await turns.drain()
  t.equal((await turns.finish(store.statistics(home, NOW))).memoryCount, 1)
})

t.test('the tokens of a bank are counted in the turns of the caller who asks for its statistics', async (t) => {
  const store = new InMemoryVectorStore()
  const own = { ...home, caller: 'user:ann ' }
  const memory = await newMemory('The quick brown fox jumps over the lazy dog. '.repeat(20_000))
  await store.insert(own, [memory], { now: NOW })
  const next = mock.method(sharedTurns, 'next')
  t.after(() => { next.mock.restore() })
  await store.statistics(own, NOW)
  t.ok(next.mock.calls.some((call) => call.arguments[0] === own.caller))
})
