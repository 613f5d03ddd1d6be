import type { Test } from 'tap'
import { MemoryChangedError, type VectorStore } from '../../../lib/stores/vector-store.js'
import { newMemory, NOW } from '../../helpers/memories.js'
import { bank, lexical, listAll, texts, type OpenStore } from './setup.js'

const home = bank('home')

/** The contract of `replaceDocuments`, which a store may be without. */
export function replacingContract (t: Test, open: OpenStore): void {
  const openReplacing = async (t: Test) => {
    const store = await open(t)
    return isReplacing(store) ? store : undefined
  }
  const inDiary = async (text: string) => await newMemory(text, { documentId: 'diary' })
  const diary = { documentIds: ['diary'], keep: [] }

  t.test('the memories of the documents are removed, and nothing else', async (t) => {
    const store = await openReplacing(t)
    if (store === undefined) return
    const repeated = await inDiary('the same')
    const kept = await inDiary('kept')
    const bystanders = [await newMemory('of none'), await newMemory('of another', { documentId: 'letter' })]
    await store.insert(home, [await inDiary('the old apple'), repeated, kept, ...bystanders], { now: NOW })
    await store.insert(bank('other'), [await inDiary('elsewhere')], { now: NOW })
    const pear = await inDiary('the new pear')
    const same = await inDiary('the same')
    const outcome = await store.replaceDocuments(home, { ...diary, keep: [kept.memoryId] }, [pear, same], { now: NOW })
    t.strictSame(
      outcome.map(({ stored, memoryId }) => [stored, memoryId]), [[true, pear.memoryId], [false, repeated.memoryId]],
    )
    t.strictSame(texts(await listAll(store, home)).sort(), [
      'kept', 'of another', 'of none', 'the new pear', 'the same',
    ])
    t.strictSame(texts(await lexical(store, [home], 'apple')), [], 'it is in no index')
    t.equal((await store.statistics(home, NOW)).memoryCount, 5)
    t.strictSame(texts(await listAll(store, bank('other'))), ['elsewhere'])
    await store.replaceDocuments(home, { ...diary, documentIds: ['diary', 'letter'] }, [], { now: NOW })
    t.strictSame(texts(await listAll(store, home)), ['of none'])
  })

  t.test('a replacement that is to keep a memory that does not exist any more is refused', async (t) => {
    const store = await openReplacing(t)
    if (store === undefined) return
    const [gone, expired] = [await inDiary('gone'), await newMemory('expired', { expiresAt: NOW + 1 })]
    await store.insert(home, [gone, await inDiary('kept'), expired], { now: NOW })
    await store.remove(home, { kind: 'ids', memoryIds: [gone.memoryId] }, { now: NOW, dryRun: false, idLimit: 0 })
    for (const { memoryId } of [gone, expired]) {
      await t.rejects(
        store.replaceDocuments(home, { ...diary, keep: [memoryId] }, [await inDiary('new')], { now: NOW + 1 }),
        MemoryChangedError,
      )
    }
    t.strictSame(texts(await listAll(store, home, { now: NOW + 1 })), ['kept'])
  })

  t.test('of concurrent replacements the memories of exactly one remain', async (t) => {
    const store = await openReplacing(t)
    if (store === undefined) return
    const versions = await Promise.all(Array.from({ length: 6 }, async (_, index) => (
      await Promise.all(Array.from({ length: 40 }, async (_, part) => (
        await inDiary(`part ${part} of version ${index}`)
      )))
    )))
    await Promise.all(versions.map(async (version) => await store.replaceDocuments(home, diary, version, { now: NOW })))
    const left = texts(await listAll(store, home))
    t.equal(left.length, 40)
    t.equal(new Set(left.map((text) => text.split('version')[1])).size, 1)
    t.equal((await store.statistics(home, NOW)).memoryCount, 40)
  })
}

function isReplacing (store: VectorStore): store is VectorStore & Required<Pick<VectorStore, 'replaceDocuments'>> {
  return store.replaceDocuments !== undefined
}
