import t from 'tap'
import { testApp } from '../helpers/app.js'
import { as, longText, refused, refusedFields } from './support.js'

interface Page {
  banks: Array<{ bank_id: string, memory_count: number, last_retained_at: string | null }>
  next_cursor: string | null
}

const EMPTY = { memory_count: 0, last_retained_at: null }

await t.test('the list has each bank with the number of its memories and the time of the last one', async (t) => {
  const { get, retain, clock, post } = await testApp(t)
  t.same((await get('/v1/banks')).json(), { banks: [], next_cursor: null })
  await retain('b', 'one')
  clock.set('2026-02-01T00:00:00Z')
  const later = await retain('a', 'two')
  clock.set('2026-03-01T00:00:00Z')
  await retain('b', 'three')
  t.same((await get('/v1/banks')).json(), {
    banks: [
      { bank_id: 'a', memory_count: 1, last_retained_at: '2026-02-01T00:00:00.000Z' },
      { bank_id: 'b', memory_count: 2, last_retained_at: '2026-03-01T00:00:00.000Z' },
    ],
    next_cursor: null,
  })
  await post('/v1/forget', { bank_id: 'a', memory_ids: [later] })
  t.same((await get('/v1/banks')).json<Page>().banks.map((bank) => bank.bank_id), ['b'])
})

await t.test('an expired memory is not in the figures', async (t) => {
  const { get, retain, clock } = await testApp(t)
  await retain('a', 'kept')
  clock.advance(1000)
  await retain('a', 'brief', { expires_at: '2026-01-15T10:05:00Z' })
  t.match((await get('/v1/banks/a')).json(), { memory_count: 2, last_retained_at: '2026-01-15T10:00:01.000Z' })
  clock.set('2026-01-15T10:05:00Z')
  t.match((await get('/v1/banks/a')).json(), { memory_count: 1, last_retained_at: '2026-01-15T10:00:00.000Z' })
})

await t.test('paging', async (t) => {
  const { get, retain } = await testApp(t)
  const names = Array.from({ length: 203 }, (_, index) => `bank-${String(index).padStart(3, '0')}`)
  for (const name of names) await retain(name, 'x')

  await t.test('returns every bank once, in order, and null as the cursor of the last page', async (t) => {
    const seen: string[] = []
    const sizes: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page = (await get(
        `/v1/banks?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )).json()
      seen.push(...page.banks.map((bank) => bank.bank_id))
      sizes.push(page.banks.length)
      cursor = page.next_cursor
    }
    t.same(seen, names)
    t.same(sizes, [100, 100, 3])
  })

  for (const [query, size] of [
    ['', 50], ['?limit=1', 1], ['?limit=200', 200], ['?limit=201', 200], ['?limit=100000', 200], ['?limit=0', 1],
    ['?limit=-3', 1],
  ] as const) {
    await t.test(`${query || 'no limit'} gives ${size}`, async (t) => {
      t.equal((await get(`/v1/banks${query}`)).json<Page>().banks.length, size)
    })
  }

  await t.test('a page that ends with the last bank has no next page', async (t) => {
    const { next_cursor: cursor } = (await get('/v1/banks?limit=200')).json<Page>()
    t.match((await get(`/v1/banks?limit=3&cursor=${cursor}`)).json(), { banks: { length: 3 }, next_cursor: null })
  })

  for (const [query, field] of [
    ['limit=many', 'limit'], ['limit=1.5', 'limit'], ['limit=', 'limit'], ['cursor=', 'cursor'],
    ['cursor=nonsense', 'cursor'], ['cursor=WzFd', 'cursor'], ['page=2', 'page'],
  ] as const) {
    await t.test(`?${query} is refused`, async (t) => {
      refusedFields(t, await get(`/v1/banks?${query}`), field)
    })
  }
})

await t.test('with access control', async (t) => {
  const { get, retain } = await testApp(t, {
    file: {
      access_control: { enabled: true, default_policy: 'owner_only' },
      access_grants: [
        { bank_id: 'team-*', principal: 'user:*', permissions: ['read'] },
        { bank_id: 'drop', principal: 'user:ada', permissions: ['write', 'forget', 'admin'] },
      ],
    },
  })
  for (const bank of ['drop', 'team-a', 'team-b', 'user-ada', 'user-bob']) await retain(bank, 'x')

  await t.test('the list has the banks that the caller may read, on all pages', async (t) => {
    t.same(
      (await get('/v1/banks', as('user:ada'))).json<Page>().banks.map((bank) => bank.bank_id),
      ['team-a', 'team-b', 'user-ada'],
    )
    t.same((await get('/v1/banks', as('agent:x'))).json(), { banks: [], next_cursor: null })
    const first = (await get('/v1/banks?limit=2', as('user:bob'))).json<Page>()
    t.same(first.banks.map((bank) => bank.bank_id), ['team-a', 'team-b'])
    const second = (await get(`/v1/banks?limit=2&cursor=${first.next_cursor}`, as('user:bob'))).json<Page>()
    t.same(second.banks.map((bank) => bank.bank_id), ['user-bob'])
    t.equal(second.next_cursor, null)
  })

  await t.test('a cursor gives no permissions', async (t) => {
    const { next_cursor: cursor } = (await get('/v1/banks?limit=1')).json<Page>()
    t.same((await get(`/v1/banks?cursor=${cursor}`, as('agent:x'))).json(), { banks: [], next_cursor: null })
  })

  for (const path of ['', '/stats', '/memories', '/memories/01936f0e-7b3c-7a10-8d2f-000000000001']) {
    await t.test(`/v1/banks/drop${path} requires read, and is refused alike without the bank`, async (t) => {
      for (const bank of ['drop', 'nowhere']) {
        refused(t, await get(`/v1/banks/${bank}${path}`, as('user:ada')), 403, 'access_denied', {
          detail: `Principal 'user:ada' is denied 'read' on bank '${bank}'`,
        })
      }
    })
  }
})

await t.test('one bank', async (t) => {
  const { get, retain, clock } = await testApp(t)

  await t.test('that does not exist has zero counts', async (t) => {
    t.same((await get('/v1/banks/nowhere')).json(), { bank_id: 'nowhere', ...EMPTY })
    t.same((await get('/v1/banks/nowhere/stats')).json(), {
      bank_id: 'nowhere',
      ...EMPTY,
      chunk_count: 0,
      token_count: 0,
      first_retained_at: null,
      first_occurred_at: null,
      last_occurred_at: null,
      tags: [],
      speakers: [],
    })
  })

  await t.test('is described', async (t) => {
    await retain('described', 'one')
    t.same((await get('/v1/banks/described')).json(), {
      bank_id: 'described', memory_count: 1, last_retained_at: '2026-01-15T10:00:00.000Z',
    })
  })

  await t.test('is found by its name escaped in the URL', async (t) => {
    await retain('user:ada@home', 'one')
    for (const name of ['user:ada@home', 'user%3Aada%40home']) {
      t.match((await get(`/v1/banks/${name}`)).json(), { bank_id: 'user:ada@home', memory_count: 1 })
    }
    await retain('z'.repeat(255), 'one')
    t.match((await get(`/v1/banks/${'%7A'.repeat(255)}`)).json(), { memory_count: 1 })
  })

  await t.test('has figures of all its memories', async (t) => {
    await retain('figures', 'Tea.', { tags: ['drink', 'hot'], occurred_at: '2025-05-01T00:00:00Z' })
    clock.set('2026-02-01T00:00:00Z')
    const long = longText(100)
    await retain('figures', long, { tags: ['drink'], occurred_at: '2024-05-01T00:00:00Z' })
    clock.set('2026-03-01T00:00:00Z')
    await retain('figures', 'Coffee.', { tags: ['drink', 'bitter'] })
    const { chunk_count: chunks, token_count: tokens, ...rest } = (await get('/v1/banks/figures/stats')).json()
    t.same(rest, {
      bank_id: 'figures',
      memory_count: 3,
      last_retained_at: '2026-03-01T00:00:00.000Z',
      first_retained_at: '2026-01-15T10:00:00.000Z',
      first_occurred_at: '2024-05-01T00:00:00.000Z',
      last_occurred_at: '2025-05-01T00:00:00.000Z',
      tags: [{ tag: 'drink', memory_count: 3 }, { tag: 'bitter', memory_count: 1 }, { tag: 'hot', memory_count: 1 }],
      speakers: [],
    })
    t.ok(chunks > 4)
    t.ok(tokens > 1000)
  })

  for (const name of ['-a', 'a%2Fb', 'a%0A', 'b%C3%A4nk', 'a*', 'a'.repeat(256)]) {
    await t.test(`cannot be named ${name.slice(0, 20)}`, async (t) => {
      for (const path of ['', '/stats', '/memories', '/export']) {
        refusedFields(t, await get(`/v1/banks/${name}${path}`), 'bank_id')
      }
    })
  }
})
