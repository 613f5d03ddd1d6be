import type { Test } from 'tap'
import type { NewMemory } from '../../../lib/stores/vector-store.js'
import { newMemory, NOW, storedForm } from '../../helpers/memories.js'
import { bank, comparable, everything, listAll, REMOVE, texts, type OpenStore } from './setup.js'

async function message (conversationId: string, position: number, fields: Partial<NewMemory> = {}): Promise<NewMemory> {
  return await newMemory(`${conversationId} ${position}`, {
    documentId: conversationId,
    retainedAt: NOW + position,
    message: { role: 'user', position, digest: `d${position}` },
    ...fields,
  })
}

export function conversationsContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  t.test('a message is returned as it was stored, and is told apart from other memories', async (t) => {
    const store = await open(t)
    const plain = await newMemory('no message', { documentId: 'talk' })
    const whole = await message('talk', 1, {
      message: { role: 'tool "x"', name: 'Zoë 🦦', id: 'a\nb', position: 1, digest: 'd' },
    })
    await store.insert(home, [plain, whole], { now: NOW })
    t.same((await listAll(store, home)).map(comparable), [whole, plain].map(storedForm).map(comparable))
    if (store.countMemories === undefined) return
    const filters = { messages: true } as const
    t.same(texts(await store.list(home, { now: NOW, limit: 9, filters })), [whole.text])
    t.equal(await store.countMemories(home, { now: NOW, filters, limit: 9 }), 1)
    t.match(await store.remove(home, { kind: 'filters', filters: { ...filters, documentIds: ['talk'] } }, REMOVE), {
      count: 1, memoryIds: [whole.memoryId],
    })
    t.same(texts(await listAll(store, home)), [plain.text])
  })

  t.test('the conversations of a bank are listed by id', async (t) => {
    const store = await open(t)
    if (store.listConversations === undefined) {
      t.pass('this store lists no conversations')
      return
    }
    t.same(await store.listConversations(home, { now: NOW, limit: 9 }), [])
    await store.insert(home, [
      await message('b', 0), await message('b', 1), await message('b', 2, { expiresAt: NOW + 1 }),
      await message('a', 0), await message('ä', 5), await message('Z', 0, { expiresAt: NOW + 1 }),
      await newMemory('no message', { documentId: 'c' }),
    ], { now: NOW })
    await store.insert(bank('other'), [await message('other', 0)], { now: NOW })
    const of = (conversationId: string, messageCount: number, last: number) => (
      { conversationId, messageCount, lastRetainedAt: NOW + last }
    )
    t.same(await store.listConversations(home, { now: NOW, limit: 9 }), [
      of('Z', 1, 0), of('a', 1, 0), of('b', 3, 2), of('ä', 1, 5),
    ])
    t.same(await store.listConversations(home, { now: NOW + 1, limit: 2 }), [of('a', 1, 0), of('b', 2, 1)])
    t.same(await store.listConversations(home, { now: NOW + 1, limit: 2, after: 'b' }), [of('ä', 1, 5)])
  })

  t.test('an insert of what is expected to be new stores all of it', async (t) => {
    const store = await open(t)
    const [one, two] = [await message('talk', 0), await message('talk', 1)]
    for (const each of [one, two]) {
      t.same(await store.insert(home, [each], { now: NOW, expectNew: true }), [
        { stored: true, memoryId: each.memoryId },
      ])
    }
  })

  for (const trust of ['suspect', 'trusted'] as const) {
    t.test(`an insert of what is expected to be new is refused beside a repeat that is ${trust}`, async (t) => {
      const store = await open(t)
      const known = await message('talk', 0, { trust: 'untrusted' })
      await store.insert(home, [known], { now: NOW })
      const before = await everything(store, home)
      const repeat = await message('talk', 0, { trust })
      for (const memories of [[repeat], [await message('talk', 1), repeat], [repeat, await message('talk', 2)]]) {
        await t.rejects(store.insert(home, memories, { now: NOW, expectNew: true }), { name: 'MemoryChangedError' })
      }
      t.same(await everything(store, home), before)
      t.match(await store.insert(home, [await message('talk', 0, { trust: 'suspect' })], { now: NOW }), [
        { stored: false },
      ])
    })
  }

  t.test('what has expired is no repeat', async (t) => {
    const store = await open(t)
    await store.insert(home, [await message('talk', 0, { expiresAt: NOW + 1 })], { now: NOW })
    t.match(await store.insert(home, [await message('talk', 0)], { now: NOW + 1, expectNew: true }), [{ stored: true }])
  })

  t.test('of inserts at once of the same messages one stores all, and the others nothing', async (t) => {
    const store = await open(t)
    const results = await Promise.allSettled(Array.from({ length: 8 }, async (_, writer) => (
      await store.insert(home, [
        await message('talk', 0), await message('talk', 1), await message(`own-${writer}`, 0),
      ], { now: NOW, expectNew: true })
    )))
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') t.match(result.reason, { name: 'MemoryChangedError' })
    }
    t.equal((await listAll(store, home)).length, 3)
  })
}
