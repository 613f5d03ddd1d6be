import t from 'tap'
import { testApp } from '../helpers/app.js'
import { hitsOf, refused, refusedFields } from './support.js'

interface Page {
  memories: Array<{ memory_id: string, text: string }>
  next_cursor: string | null
}

const { get, post, retain, clock } = await testApp(t)

const texts = (page: Page) => page.memories.map((memory) => memory.text)

async function list (query: string): Promise<Page> {
  const response = await get(`/v1/banks/${query}`)
  if (response.statusCode !== 200) throw new Error(`the list answered ${response.statusCode}: ${response.body}`)
  return response.json<Page>()
}

await t.test('a memory has the members of a hit without the score', async (t) => {
  const id = await retain('record', 'Alice moved to Lyon.', { tags: ['home'], metadata: { turn: 3 } })
  const { score, ...hit } = hitsOf(await post('/v1/recall', { bank_id: 'record', query: 'lyon' }))[0]!
  t.ok(score > 0)
  t.same((await list('record/memories')).memories, [hit])
  t.same((await get(`/v1/banks/record/memories/${id}`)).json(), hit)
})

await t.test('the newest memories come first, and those of one instant by descending id', async (t) => {
  clock.set('2026-02-01T00:00:00Z')
  await retain('order', 'second')
  await retain('order', 'third')
  clock.set('2026-01-31T00:00:00Z')
  await retain('order', 'first')
  clock.set('2026-02-02T00:00:00Z')
  await retain('order', 'last')
  t.same(texts(await list('order/memories')), ['last', 'third', 'second', 'first'])
})

await t.test('a bank that does not exist has no memories', async (t) => {
  t.same(await list('nowhere/memories'), { memories: [], next_cursor: null })
})

await t.test('paging', async (t) => {
  const items = Array.from(
    { length: 205 }, (_, index) => ({ content: `Note ${index}.`, tags: [index % 2 === 0 ? 'even' : 'odd'] }),
  )
  await post('/v1/retain/batch', { bank_id: 'pages', items })
  const newestFirst = items.map((item) => item.content).reverse()

  const walk = async (query: string): Promise<{ seen: string[], sizes: number[] }> => {
    const seen: string[] = []
    const sizes: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page = await list(
        `pages/memories?${query}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      seen.push(...texts(page))
      sizes.push(page.memories.length)
      cursor = page.next_cursor
    }
    return { seen, sizes }
  }

  await t.test('returns every memory once, in order', async (t) => {
    t.same(await walk('limit=100'), { seen: newestFirst, sizes: [100, 100, 5] })
  })

  await t.test('continues within the filter', async (t) => {
    const { seen } = await walk('limit=30&tags=even')
    t.same(seen, newestFirst.filter((_, index) => index % 2 === 0))
  })

  await t.test('a full last page has no next page', async (t) => {
    t.same((await walk('limit=41')).sizes, [41, 41, 41, 41, 41])
  })

  for (const [query, size] of [
    ['', 50], ['?limit=200', 200], ['?limit=201', 200], ['?limit=0', 1], ['?limit=-1', 1], ['?limit=7', 7],
  ] as const) {
    await t.test(`${query || 'no limit'} gives ${size}`, async (t) => {
      t.equal((await list(`pages/memories${query}`)).memories.length, size)
    })
  }

  await t.test('concurrent writes cause no repetition and no omission', async (t) => {
    const first = await list('pages/memories?limit=100')
    await retain('pages', 'Newer than all.')
    await post('/v1/forget', { bank_id: 'pages', memory_ids: [first.memories.at(-1)!.memory_id] })
    const second = await list(`pages/memories?limit=200&cursor=${first.next_cursor}`)
    t.same([...texts(first), ...texts(second)], newestFirst)
  })
})

await t.test('filters', async (t) => {
  for (const [content, tags] of Object.entries({ a: ['a'], b: ['b'], ab: ['a', 'b'], none: undefined })) {
    await retain('filters', content, { tags })
  }
  for (const [query, expected] of [
    ['tags=a', ['a', 'ab']],
    ['tags=a&tags=b', ['a', 'ab', 'b']],
    ['tags=a&tags=b&tags_match=any', ['a', 'ab', 'b']],
    ['tags=a&tags=b&tags_match=all', ['ab']],
    ['tags=z', []],
    ['tags_match=all', ['a', 'ab', 'b', 'none']],
    ['', ['a', 'ab', 'b', 'none']],
  ] as const) {
    await t.test(`${query || 'none'} lets through ${expected.join(', ') || 'nothing'}`, async (t) => {
      t.same(texts(await list(`filters/memories?${query}`)).sort(), expected)
    })
  }
})

for (const [query, field] of [
  ['limit=x', 'limit'], ['limit=1&limit=2', 'limit'], ['cursor=abc', 'cursor'], ['cursor=WyJhIl0', 'cursor'],
  ['tags=', 'tags[0]'],
  ['tags=a&tags_match=some', 'tags_match'], ['order=asc', 'order'],
] as const) {
  await t.test(`?${query} is refused`, async (t) => {
    refusedFields(t, await get(`/v1/banks/pages/memories?${query}`), field)
  })
}

await t.test('a memory is found by its id in upper or lower case, and only in its own bank', async (t) => {
  const id = await retain('single', 'one')
  t.match((await get(`/v1/banks/single/memories/${id.toUpperCase()}`)).json(), {
    memory_id: id, bank_id: 'single', text: 'one',
  })
  refused(t, await get(`/v1/banks/record/memories/${id}`), 404, 'not_found')
})

for (const id of ['01936f0e-7b3c-7a10-8d2f-ffffffffffff', 'none', '%20', '..%2F..']) {
  await t.test(`a memory ${id} that does not exist is 404`, async (t) => {
    refused(t, await get(`/v1/banks/single/memories/${id}`), 404, 'not_found', { detail: 'No such memory' })
    refused(t, await get(`/v1/banks/nowhere/memories/${id}`), 404, 'not_found', { detail: 'No such memory' })
  })
}

await t.test('an expired memory is in no list and is 404', async (t) => {
  clock.set('2026-03-01T00:00:00Z')
  const id = await retain('expiry', 'brief', { expires_at: '2026-03-01T00:00:00.001Z' })
  t.equal((await get(`/v1/banks/expiry/memories/${id}`)).statusCode, 200)
  clock.advance(1)
  t.same(await list('expiry/memories'), { memories: [], next_cursor: null })
  refused(t, await get(`/v1/banks/expiry/memories/${id}`), 404, 'not_found')
})
