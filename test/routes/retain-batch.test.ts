import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

const { post, get, retain } = await testApp(t)

function items (count: number): Array<{ content: string }> {
  return Array.from({ length: count }, (_, index) => ({ content: `Item ${index}.` }))
}

async function countOf (bankId: string): Promise<number> {
  return (await get(`/v1/banks/${bankId}`)).json().memory_count
}

await t.test('a batch answers for each item in the order of the items', async (t) => {
  const standing = await retain('order', 'Known.')
  const response = await post('/v1/retain/batch', {
    bank_id: 'order',
    items: [{ content: 'New.', tags: ['a'] }, { content: 'Known.' }, { content: 'Last.', metadata: { n: 1 } }],
  })
  t.equal(response.statusCode, 200)
  const { results } = response.json()
  t.same(results.map(({ stored, deduplicated, chunk_count: chunks, bank_id: bank }: Record<string, unknown>) => [
    stored, deduplicated, chunks, bank,
  ]), [
    [true, false, 1, 'order'], [false, true, 1, 'order'], [true, false, 1, 'order'],
  ])
  t.equal(results[1].memory_id, standing)
  const texts = await Promise.all([0, 2].map(async (index) => (
    (await get(`/v1/banks/order/memories/${results[index].memory_id}`)).json()
  )))
  t.match(texts, [{ text: 'New.', tags: ['a'] }, { text: 'Last.', metadata: { n: 1 } }])
})

await t.test('equal items of one batch are stored once', async (t) => {
  const { results } = (await post('/v1/retain/batch', {
    bank_id: 'twins', items: [{ content: 'Same.' }, { content: ' Same. ' }],
  })).json()
  t.same(results.map((result: { stored: boolean }) => result.stored), [true, false])
  t.equal(results[0].memory_id, results[1].memory_id)
  t.equal(await countOf('twins'), 1)
})

await t.test('null counts as an absent field of an item', async (t) => {
  const response = await post('/v1/retain/batch', {
    bank_id: 'nulls', items: [{ content: 'Bare.', tags: null, occurred_at: null }],
  })
  t.equal(response.statusCode, 200)
})

for (const count of [1, 1000]) {
  await t.test(`a batch of ${count} items is accepted`, async (t) => {
    const response = await post('/v1/retain/batch', { bank_id: `size-${count}`, items: items(count) })
    t.equal(response.json().results.length, count)
    t.equal(await countOf(`size-${count}`), count)
  })
}

for (const count of [0, 1001]) {
  await t.test(`a batch of ${count} items is refused`, async (t) => {
    refusedFields(t, await post('/v1/retain/batch', { bank_id: 'size', items: items(count) }), 'items')
    t.equal(await countOf('size'), 0)
  })
}

const bad: Array<[what: string, field: string, item: Record<string, unknown>]> = [
  ['no content', 'items[2].content', {}],
  ['blank content', 'items[2].content', { content: '  ' }],
  ['content that is too long', 'items[2].content', { content: 'a'.repeat(50_001) }],
  ['an empty list of tags', 'items[2].tags', { content: 'x', tags: [] }],
  ['a tag that is no text', 'items[2].tags[1]', { content: 'x', tags: ['a', 1] }],
  ['an instant without an offset', 'items[2].occurred_at', { content: 'x', occurred_at: '2025-01-01T00:00:00' }],
  ['an expiry in the past', 'items[2].expires_at', { content: 'x', expires_at: '2025-01-01T00:00:00Z' }],
  ['too much metadata', 'items[2].metadata', { content: 'x', metadata: { k: 'v'.repeat(5000) } }],
  ['a bank of its own', 'items[2].bank_id', { content: 'x', bank_id: 'other' }],
]
for (const [what, field, item] of bad) {
  await t.test(`an item with ${what} is named by its index, and nothing is stored`, async (t) => {
    refusedFields(
      t, await post('/v1/retain/batch', { bank_id: 'bad', items: [...items(2), item, { content: 'Good.' }] }), field,
    )
    t.equal(await countOf('bad'), 0)
  })
}

await t.test('a batch without a bank, without items or with an unknown field is refused', async (t) => {
  refusedFields(t, await post('/v1/retain/batch', { items: items(1) }), 'bank_id')
  refusedFields(t, await post('/v1/retain/batch', { bank_id: 'b' }), 'items')
  refusedFields(t, await post('/v1/retain/batch', { bank_id: 'b', items: items(1), tags: ['a'] }), 'tags')
})

await t.test('a batch that the store cannot store leaves nothing behind', async (t) => {
  const store = new InMemoryVectorStore()
  const insert = store.insert.bind(store)
  let down = true
  store.insert = async (...call) => {
    if (down) throw new Error('disk full')
    return await insert(...call)
  }
  const { post, get } = await testApp(t, {}, { store })
  refused(t, await post('/v1/retain/batch', { bank_id: 'b', items: items(3) }), 503, 'dependency_unavailable')
  t.equal((await get('/v1/banks/b')).json().memory_count, 0)
  down = false
  t.equal((await post('/v1/retain/batch', { bank_id: 'b', items: items(3) })).statusCode, 200)
})

await t.test('a batch requires the permission write', async (t) => {
  const { post } = await testApp(t, { file: ONE_PERMISSION_EACH })
  const body = { bank_id: 'team', items: items(2) }
  refused(t, await post('/v1/retain/batch', body, as('user:admin')), 403, 'access_denied', {
    detail: "Principal 'user:admin' is denied 'write' on bank 'team'",
  })
  t.equal((await post('/v1/retain/batch', body, as('user:write'))).statusCode, 200)
})
