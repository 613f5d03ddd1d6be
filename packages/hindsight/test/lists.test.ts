import { HindsightError, type HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { rejection } from '../../../test/helpers/rejection.js'
import { gateway, type Gateway } from './gateway.js'

/** Imports so many memories of the document `log` into the bank `home`, which takes less time than to retain them. */
async function importNotes (inject: Gateway['inject'], count: number) {
  const lines = Array.from({ length: count }, (_, index) => JSON.stringify({
    text: `Note ${index}`, document_id: 'log',
  }))
  return await inject({
    method: 'POST',
    url: '/v1/banks/home/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: [JSON.stringify({ format: 'memory-gateway-export', version: 1 }), ...lines].join('\n'),
  })
}

type ListOptions = NonNullable<Parameters<HindsightClient['listMemories']>[1]>

t.test('memories are listed in pages, newest first, with their total', async (t) => {
  const { client } = await gateway(t)
  await client.retainBatch('home', Array.from({ length: 450 }, (_, index) => ({
    content: `Note ${index}`, ...(index % 2 === 0 && { document_id: `d${index % 3}` }),
  })))
  const all: unknown[] = []
  for (let offset = 0; offset < 500; offset += 150) {
    const { items, total, ...page } = await client.listMemories('home', { limit: 150, offset })
    t.same([total, page], [450, { limit: 150, offset }])
    all.push(...items.map(({ text }) => text))
  }
  t.same(all, Array.from({ length: 450 }, (_, index) => `Note ${449 - index}`))
  const page = async (options: ListOptions) => {
    const { items, total } = await client.listMemories('home', options)
    return [total, items.map(({ text }) => text)]
  }
  t.same(await page({ q: 'NOTE 44' }), [
    11, [449, 448, 447, 446, 445, 444, 443, 442, 441, 440, 44].map((number) => `Note ${number}`),
  ])
  t.same(await page({ q: 'note 44', limit: 2, offset: 9 }), [11, ['Note 440', 'Note 44']])
  t.same(await page({ documentId: 'd1', limit: 2 }), [75, ['Note 448', 'Note 442']])
  t.same(await page({ documentId: 'none' }), [0, []])
  t.same(await page({ state: 'valid', limit: 1 }), [450, ['Note 449']])
  t.same(await page({ state: 'invalidated' }), [0, []])
  t.same(await page({ offset: 450 }), [450, []])
  t.same(await page({ offset: 20_000 }), [450, []], 'a page after the end is empty, however far')
  t.same(await page({ offset: 20_000, q: 'note 44' }), [11, []])
  t.equal((await client.listMemories('home', { limit: 1000 })).items.length, 450)
  for (const [options, status] of [
    [{ limit: 0 }, 400], [{ limit: 1001 }, 400], [{ offset: -1 }, 400], [{ consolidationState: 'done' }, 501],
    [{ entityId: 'x' }, 501],
  ] as const) {
    t.equal(
      (await rejection(HindsightError, client.listMemories('home', options))).statusCode, status,
      JSON.stringify(options),
    )
  }
})

t.test('documents are listed by their last memory, and disappear with it', async (t) => {
  const { client, clock } = await gateway(t)
  await client.retainBatch('home', [
    { content: 'a1', document_id: 'a/1', tags: ['x'] }, { content: 'a2', document_id: 'a/1', tags: ['y'] },
    { content: 'none' },
    { content: 'b1', document_id: 'b' },
  ])
  clock.advance(60_000)
  await client.retain('home', 'a3', { documentId: 'a/1', updateMode: 'append' })
  t.same(await client.listDocuments('home'), {
    items: [
      {
        id: 'a/1',
        bank_id: 'home',
        content_hash: null,
        created_at: '2026-01-15T10:00:00.000Z',
        updated_at: '2026-01-15T10:01:00.000Z',
        memory_unit_count: 3,
        tags: ['x', 'y'],
        text_length: 6,
      },
      {
        id: 'b',
        bank_id: 'home',
        content_hash: null,
        created_at: '2026-01-15T10:00:00.000Z',
        updated_at: '2026-01-15T10:00:00.000Z',
        memory_unit_count: 1,
        tags: [],
        text_length: 2,
      },
    ],
    total: 2,
    limit: 100,
    offset: 0,
  })
  t.match(await client.listDocuments('home', { limit: 1, offset: 1 }), {
    items: [{ id: 'b' }], total: 2, limit: 1, offset: 1,
  })
  await client.deleteDocument('home', 'a/1')
  t.match(await client.listDocuments('home'), { items: [{ id: 'b' }], total: 1 })
  t.equal(await client.getDocument('home', 'a/1'), null)
  t.match((await rejection(Error, client.deleteDocument('home', 'a/1'))).message, /No such document/)
  t.match(await client.listMemories('home'), { total: 2 })
})

t.test('the text of a document is bounded, and pages of long texts are read in parts', async (t) => {
  const { client } = await gateway(t)
  const long = 'x'.repeat(50_000)
  for (const part of [1, 2]) {
    await client.retainBatch('home', Array.from({ length: 43 }, (_, index) => ({
      content: `${part} ${index} ${long}`.slice(0, 50_000), document_id: 'long', update_mode: 'append' as const,
    })))
  }
  t.match(await rejection(HindsightError, client.getDocument('home', 'long')), {
    statusCode: 413, details: /^The document has more than 4194304 characters/,
  })
  t.match(await client.listDocuments('home'), { items: [{ id: 'long', text_length: 4_300_000 }] })
})

t.test('a request that would read more than 10,000 memories is refused with what to do', async (t) => {
  const { client, inject } = await gateway(t)
  t.equal((await importNotes(inject, 10_001)).statusCode, 200)
  t.match(await client.listMemories('home', { limit: 1, offset: 10_000 }), { total: 10_001, items: [{ text: String }] })
  const refused: Record<string, () => Promise<unknown>> = {
    'a text': () => client.listMemories('home', { q: 'note' }),
    'all documents': () => client.listDocuments('home'),
    'a document': () => client.getDocument('home', 'log'),
  }
  for (const [what, call] of Object.entries(refused)) {
    t.match(
      await rejection(HindsightError, call()), { statusCode: 501, details: /^more than 10000 memories: .*has cursors/ },
      what,
    )
  }
  t.match(await client.listMemories('home', { limit: 1 }), { total: 10_001 }, 'nothing has changed')
  await client.retain('home', 'new', { documentId: 'log' })
  t.match(await client.listMemories('home'), { total: 1, items: [{ text: 'new' }] }, 'a replacement reads no text')
})

t.test('a document of more than 10,000 memories is deleted', async (t) => {
  const { client, inject } = await gateway(t)
  t.equal((await importNotes(inject, 10_001)).statusCode, 200)
  await client.retain('home', 'kept', { documentId: 'other' })
  await client.deleteDocument('home', 'log')
  t.match(await client.listMemories('home'), { total: 1, items: [{ text: 'kept' }] })
})
