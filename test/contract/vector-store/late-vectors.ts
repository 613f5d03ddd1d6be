import type { Test } from 'tap'
import type { LateVectors, NewMemory, Unembedded, VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW, storedForm } from '../../helpers/memories.js'
import { bank, comparable, REMOVE, searchFor, semantic, texts, type OpenStore } from './setup.js'

type Late = VectorStore & Required<Pick<VectorStore, 'attachVectors' | 'listUnembedded'>>

const home = bank('home')
const VECTOR = Float32Array.of(1, 0, 0, 0)
const all = { now: NOW, limit: 100 }

function lateVectors ({ memoryId, fingerprint }: NewMemory, vectors: readonly Float32Array[] = [VECTOR]): LateVectors {
  return { memoryId, fingerprint, vectors }
}

/** Skipped for a store that is given vectors with its memories only. */
export function lateVectorsContract (t: Test, open: OpenStore): void {
  const test = (about: string, run: (t: Test, open: (t: Test) => Promise<Late>) => Promise<void>) => {
    t.test(about, async (t) => {
      const store = await open(t)
      if (store.attachVectors === undefined || store.listUnembedded === undefined) {
        t.pass('the store takes no late vectors')
        return
      }
      let first: VectorStore | undefined = store
      await run(t, async (t) => {
        const next = (first ?? await open(t)) as Late
        first = undefined
        return next
      })
    })
  }
  const names = (waiting: readonly Unembedded[]) => waiting.map(({ memory }) => memory.text)

  test('memories are found by embedding from the time they have their vectors', async (t, open) => {
    const store = await open(t)
    const [one, two] = await newMemories(['one', 'two']) as [NewMemory, NewMemory]
    await store.insert(home, [one, two], { now: NOW })
    t.strictSame(await semantic(store, [home], [1, 0, 0, 0]), [])
    t.equal(await store.attachVectors(home, [lateVectors(one)], NOW), 1)
    t.strictSame(texts(await semantic(store, [home], [1, 0, 0, 0])), ['one'])
    t.equal(
      await store.attachVectors(home, [lateVectors(two, [Float32Array.of(1, 1, 0, 0)])], NOW), 1,
    )
    const found = await searchFor(store, [home], 'two', { semantic: { vector: VECTOR }, limit: 1 })
    t.strictSame([texts(found.lexical!), texts(found.semantic!), found.total], [['two'], ['one'], 2])
    t.ok(Math.abs(found.lexical![0]!.scores.semantic! - Math.SQRT1_2) < 1e-3)
    t.strictSame(comparable((await store.get(home, one.memoryId, NOW))!), comparable(storedForm(one)))
  })

  test('each passage has its own vector', async (t, open) => {
    const store = await open(t)
    const memory = await newMemory('Sentence number one. Sentence number two.', { chunkMaxCharacters: 24 })
    await store.insert(home, [memory], { now: NOW })
    for (const vectors of [[], [VECTOR], [VECTOR, VECTOR, VECTOR]]) {
      t.equal(await store.attachVectors(home, [lateVectors(memory, vectors)], NOW), 0)
    }
    t.equal((await store.listUnembedded(all)).length, 1)
    t.equal(await store.attachVectors(
      home, [lateVectors(memory, [Float32Array.of(0, 1, 0, 0), VECTOR])], NOW,
    ), 1)
    t.strictSame(
      (await semantic(store, [home], [1, 0, 0, 0]))[0]!.passages.map(({ start }) => start),
      memory.passages.map(({ start }) => start).reverse(),
    )
  })

  test('a memory that is removed, has vectors, has expired or is in another bank is skipped', async (t, open) => {
    const store = await open(t)
    const [gone, waiting] = await newMemories(['gone', 'waiting']) as [NewMemory, NewMemory]
    const ready = await newMemory('ready', { vectors: [[0, 1, 0, 0]] })
    const brief = await newMemory('brief', { expiresAt: NOW + 10 })
    await store.insert(home, [gone, waiting, ready, brief], { now: NOW })
    await store.remove(home, { kind: 'ids', memoryIds: [gone.memoryId] }, REMOVE)
    const late = [gone, waiting, ready, brief].map((memory) => lateVectors(memory))
    t.equal(await store.attachVectors(bank('home', 'acme'), late, NOW), 0)
    t.equal(await store.attachVectors(home, late, NOW + 10), 1)
    t.strictSame(
      (await semantic(store, [home], [0, 1, 0, 0])).map(({ memory, score }) => [memory.text, score]),
      [['ready', 1], ['waiting', 0]],
    )
    t.equal(await store.attachVectors(home, late, NOW + 10), 0)
    t.equal(await store.attachVectors(home, [], NOW), 0)
    t.equal((await store.statistics(home, NOW + 10)).memoryCount, 2)
    t.strictSame(names(await store.listUnembedded({ ...all, now: NOW + 10 })), [])
  })

  test('vectors of a text that another has replaced are not stored with the new text', async (t, open) => {
    const store = await open(t)
    const old = await newMemory('old')
    await store.insert(home, [old], { now: NOW })
    const { memoryId } = old
    const current = await newMemory('new', { memoryId })
    await store.import(home, [current], { now: NOW, onConflict: 'overwrite' })
    t.equal(await store.attachVectors(home, [lateVectors(old)], NOW), 0)
    t.strictSame((await store.listUnembedded(all)).map(({ memory, fingerprint }) => [memory.text, fingerprint]), [
      ['new', current.fingerprint],
    ])
    t.equal(await store.attachVectors(home, [lateVectors(current)], NOW), 1)
    t.strictSame(await store.listUnembedded(all), [])
  })

  test('a late vector is removed with its memory', async (t, open) => {
    const store = await open(t)
    const [memory] = await newMemories(['one'], { expiresAt: NOW + 10 }) as [NewMemory]
    await store.insert(home, [memory], { now: NOW })
    await store.attachVectors(home, [lateVectors(memory)], NOW)
    t.strictSame(await semantic(store, [home], [1, 0, 0, 0], { now: NOW + 10 }), [])
    await store.remove(home, { kind: 'all' }, REMOVE)
    await store.insert(home, [memory], { now: NOW })
    t.strictSame(await semantic(store, [home], [1, 0, 0, 0]), [])
    t.strictSame(names(await store.listUnembedded(all)), ['one'])
  })

  test('memories without vectors are listed over all banks, with their passages, page by page', async (t, open) => {
    const store = await open(t)
    const keys = [bank('b', 'acme'), bank('b'), bank('a', 'acme'), bank('a')]
    for (const key of keys) {
      await store.insert(
        key, await newMemories([`${key.tenantId} ${key.bankId} 0`, `${key.tenantId} ${key.bankId} 1`]), { now: NOW },
      )
    }
    const split = await newMemory('Sentence number one. Sentence number two.', { chunkMaxCharacters: 24 })
    await store.insert(
      bank('b', 'acme'),
      [split, await newMemory('ready', { vectors: [[1, 0, 0, 0]] }), await newMemory('brief', { expiresAt: NOW })],
      { now: NOW - 1 },
    )
    const expected = [
      'null a 0', 'null a 1', 'null b 0', 'null b 1', 'acme a 0', 'acme a 1', 'acme b 0', 'acme b 1', split.text,
    ]
    const whole = await store.listUnembedded(all)
    t.strictSame(names(whole), expected)
    t.strictSame(whole.at(-1)!.bank, bank('b', 'acme'))
    t.strictSame(comparable(whole.at(-1)!.memory), comparable(storedForm(split)))
    t.strictSame(whole.at(-1)!.passages, split.passages.map(({ start, end }) => ({ start, end })))
    const paged: Unembedded[] = []
    for (;;) {
      const last = paged.at(-1)
      const page = await store.listUnembedded({
        now: NOW, limit: 2, ...(last !== undefined && { after: { ...last.bank, memoryId: last.memory.memoryId } }),
      })
      if (page.length === 0) break
      t.ok(page.length <= 2)
      paged.push(...page)
    }
    t.strictSame(names(paged), expected)
  })
}
