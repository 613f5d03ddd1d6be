import type { Test } from 'tap'
import {
  IDEMPOTENCY_LIFETIME_MS, type IdempotentWrite, type NewMemory, readRecord, type VectorStore,
} from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { bank, listAll, REMOVE, texts, type OpenStore } from './setup.js'

const HOME = bank('home')
const CONTEXT = { bankId: 'home', said: 'quoted "so"' }

function keyed (key: string): IdempotentWrite {
  return { key: key.padEnd(64, '0'), requestFingerprint: 'fingerprint', context: JSON.stringify(CONTEXT) }
}

/** Every way to write, as one that changes something and as one that changes nothing. */
const WRITES: Array<[
  about: string, write: (store: VectorStore, memories: NewMemory[], idempotency: IdempotentWrite) => Promise<unknown>,
]> = [
  ['an insert', async (store, memories, idempotency) => await store.insert(HOME, memories, { now: NOW, idempotency })],
  [
    'an insert of nothing',
    async (store, _memories, idempotency) => await store.insert(HOME, [], { now: NOW, idempotency }),
  ],
  ['an import', async (store, memories, idempotency) => (
    await store.import(HOME, memories, { now: NOW, onConflict: 'skip', idempotency })
  )],
  ['an import of nothing', async (store, _memories, idempotency) => (
    await store.import(HOME, [], { now: NOW, onConflict: 'skip', idempotency })
  )],
  ['a removal by id', async (store, [memory], idempotency) => (
    await store.remove(HOME, { kind: 'ids', memoryIds: [memory!.memoryId] }, { ...REMOVE, idempotency })
  )],
  [
    'a removal of all',
    async (store, _memories, idempotency) => await store.remove(HOME, { kind: 'all' }, { ...REMOVE, idempotency }),
  ],
  ['a removal that only counts', async (store, _memories, idempotency) => (
    await store.remove(HOME, { kind: 'all' }, { ...REMOVE, dryRun: true, idempotency })
  )],
]

/** The contract of stores with idempotency records; a store without `findIdempotencyRecord` passes. */
export function idempotencyContract (t: Test, open: OpenStore): void {
  for (const [about, write] of WRITES) {
    t.test(`${about} stores its context and its outcome under its key, and is executed once`, async (t) => {
      const store = await open(t)
      if (store.findIdempotencyRecord === undefined) return
      await store.insert(HOME, await newMemories(['before']), { now: NOW })
      const memories = await newMemories(['first', 'second'])
      const idempotency = keyed('a')
      const outcome = await write(store, memories, idempotency)
      const after = texts(await listAll(store, HOME))
      const record = await store.findIdempotencyRecord(HOME, idempotency.key, NOW)
      t.equal(record?.requestFingerprint, 'fingerprint')
      t.strictSame(readRecord(record!.text), { context: CONTEXT, outcome })
      await t.rejects(
        write(store, await newMemories(['third', 'fourth']), idempotency), { name: 'IdempotencyKeyTaken' },
      )
      t.strictSame(texts(await listAll(store, HOME)), after)
      t.strictSame(
        readRecord((await store.findIdempotencyRecord(HOME, idempotency.key, NOW))!.text),
        { context: CONTEXT, outcome },
      )
    })
  }

  t.test('the outcome of a repeat is stored with the data of the stored memory', async (t) => {
    const store = await open(t)
    if (store.findIdempotencyRecord === undefined) return
    const memory = await newMemory('once')
    await store.insert(HOME, [memory], { now: NOW })
    const outcome = await store.insert(
      HOME, [{ ...await newMemory('once'), fingerprint: memory.fingerprint }], { now: NOW, idempotency: keyed('b') },
    )
    t.match(outcome, [{ stored: false, memoryId: memory.memoryId }])
    const record = await store.findIdempotencyRecord(HOME, keyed('b').key, NOW)
    t.strictSame(readRecord(record!.text), { context: CONTEXT, outcome })
  })

  t.test('a failed write stores no record', async (t) => {
    const store = await open(t)
    if (store.findIdempotencyRecord === undefined) return
    const broken = await newMemory('broken', { vectors: [[NaN, 0, 0, 0]] })
    await t.rejects(store.insert(HOME, [broken], { now: NOW, idempotency: keyed('c') }))
    t.equal(await store.findIdempotencyRecord(HOME, keyed('c').key, NOW), undefined)
  })

  t.test('a key belongs to its bank', async (t) => {
    const store = await open(t)
    if (store.findIdempotencyRecord === undefined) return
    const idempotency = keyed('d')
    await store.insert(HOME, await newMemories(['mine']), { now: NOW, idempotency })
    for (const [other, text] of [[bank('work'), 'other'], [bank('home', 'acme'), 'theirs']] as const) {
      t.equal(await store.findIdempotencyRecord(other, idempotency.key, NOW), undefined)
      await store.insert(other, await newMemories([text]), { now: NOW, idempotency })
      t.strictSame(texts(await listAll(store, other)), [text])
      t.not(await store.findIdempotencyRecord(other, idempotency.key, NOW), undefined)
    }
    t.strictSame(texts(await listAll(store, HOME)), ['mine'])
    await t.rejects(
      store.insert(HOME, await newMemories(['again']), { now: NOW, idempotency }), { name: 'IdempotencyKeyTaken' },
    )
  })

  t.test('a record is void after its lifetime, and its key is used again', async (t) => {
    const store = await open(t)
    if (store.findIdempotencyRecord === undefined) return
    const idempotency = keyed('e')
    await store.insert(HOME, await newMemories(['first']), { now: NOW, idempotency })
    const later = NOW + IDEMPOTENCY_LIFETIME_MS
    t.not(await store.findIdempotencyRecord(HOME, idempotency.key, later - 1), undefined)
    t.equal(await store.findIdempotencyRecord(HOME, idempotency.key, later), undefined)
    await store.insert(HOME, await newMemories(['second']), { now: later, idempotency })
    t.strictSame(texts(await listAll(store, HOME)).sort(), ['first', 'second'])
    t.not(await store.findIdempotencyRecord(HOME, idempotency.key, later), undefined)
  })
}
