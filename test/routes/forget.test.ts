import t from 'tap'
import type { ForgetAnswer } from '../../lib/operations/schemas.js'
import { testApp } from '../helpers/app.js'
import { as, longText, ONE_PERMISSION_EACH, refused, refusedFields, textsOf } from './support.js'

const { post, get, inject, retain, clock } = await testApp(t, {
  file: { retrieval: { weights: { lexical: 1, semantic: 1 } } },
})

const UNKNOWN = '01936f0e-7b3c-7a10-8d2f-ffffffffffff'

async function left (bankId: string): Promise<string[]> {
  const { memories } = (await get(
    `/v1/banks/${bankId}/memories?limit=200`,
  )).json<{ memories: Array<{ text: string }> }>()
  return memories.map((memory) => memory.text).sort()
}

await t.test('the memories with the given ids are forgotten', async (t) => {
  const ids = [await retain('ids', 'one'), await retain('ids', 'two'), await retain('ids', 'three')]
  const response = await post('/v1/forget', { bank_id: 'ids', memory_ids: [ids[0], ids[2]] })
  t.equal(response.statusCode, 200)
  t.same(response.json(), { deleted_count: 2, memory_ids: [ids[0], ids[2]] })
  t.same(await left('ids'), ['two'])
})

await t.test('the ids are in ascending order, in whatever order they are requested or were stored', async (t) => {
  const id = (digit: number) => `01936f0e-7b3c-7a10-8d2f-00000000000${digit}`
  const lines = [3, 1, 4, 2].map((digit) => (
    JSON.stringify({ memory_id: id(digit), text: `note ${digit}`, tags: ['order'] })
  ))
  const imported = await inject({
    method: 'POST',
    url: '/v1/banks/order/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: [JSON.stringify({ format: 'memory-gateway-export', version: 1 }), ...lines].join('\n'),
  })
  t.match(imported.json(), { imported: 4 })
  const ids = [id(1), id(2), id(3), id(4)]
  const forget = async (more: object) => (await post('/v1/forget', { bank_id: 'order', ...more })).json<ForgetAnswer>()
  for (const selector of [{ memory_ids: ids.toReversed() }, { tags: ['order'] }, { scope: 'all' }]) {
    t.same((await forget({ ...selector, dry_run: true })).memory_ids, ids, JSON.stringify(selector))
  }
  t.same((await forget({ memory_ids: [id(4), id(2)] })).memory_ids, [id(2), id(4)])
})

await t.test('an id counts once, in upper or lower case and however often it occurs', async (t) => {
  const id = await retain('case', 'one')
  t.same((await post('/v1/forget', { bank_id: 'case', memory_ids: [id, id.toUpperCase(), id] })).json(), {
    deleted_count: 1, memory_ids: [id],
  })
})

await t.test('an id that is removed or never existed counts 0', async (t) => {
  const id = await retain('gone', 'one')
  await retain('gone', 'two')
  await post('/v1/forget', { bank_id: 'gone', memory_ids: [id] })
  t.same((await post('/v1/forget', { bank_id: 'gone', memory_ids: [id, UNKNOWN] })).json(), {
    deleted_count: 0, memory_ids: [],
  })
  t.same(await left('gone'), ['two'])
})

await t.test('an id of another bank counts 0 and is not affected', async (t) => {
  const own = await retain('mine', 'mine')
  const foreign = await retain('yours', 'yours')
  t.same((await post('/v1/forget', { bank_id: 'mine', memory_ids: [foreign, own] })).json(), {
    deleted_count: 1, memory_ids: [own],
  })
  t.same(await left('yours'), ['yours'])
})

const TAGGED: Record<string, string[] | undefined> = {
  a: ['a'], b: ['b'], ab: ['a', 'b'], abc: ['a', 'b', 'c'], none: undefined,
}
const byTags: Array<[body: Record<string, unknown>, gone: string[]]> = [
  [{ tags: ['a'] }, ['a', 'ab', 'abc']],
  [{ tags: ['a', 'b'] }, ['a', 'b', 'ab', 'abc']],
  [{ tags: ['a', 'b'], tags_match: 'any' }, ['a', 'b', 'ab', 'abc']],
  [{ tags: ['a', 'b'], tags_match: 'all' }, ['ab', 'abc']],
  [{ tags: ['z'] }, []],
  [{ tags: ['A'] }, []],
]
for (const [index, [body, gone]] of byTags.entries()) {
  await t.test(`${JSON.stringify(body)} forgets ${gone.join(', ') || 'nothing'}`, async (t) => {
    const bank = `tags-${index}`
    const ids = new Map<string, string>()
    for (const [content, tags] of Object.entries(TAGGED)) ids.set(content, await retain(bank, content, { tags }))
    const answer = (await post('/v1/forget', { bank_id: bank, ...body })).json()
    t.equal(answer.deleted_count, gone.length)
    t.same([...answer.memory_ids].sort(), gone.map((content) => ids.get(content)).sort())
    t.same(await left(bank), Object.keys(TAGGED).filter((content) => !gone.includes(content)).sort())
  })
}

await t.test('scope all forgets the whole bank and no other', async (t) => {
  const ids = [await retain('all', 'one'), await retain('all', 'two', { tags: ['a'] })]
  await retain('all-2', 'kept')
  const answer = (await post('/v1/forget', { bank_id: 'all', scope: 'all' })).json()
  t.same({ ...answer, memory_ids: [...answer.memory_ids].sort() }, { deleted_count: 2, memory_ids: ids })
  t.same(await left('all'), [])
  t.same(await left('all-2'), ['kept'])
})

await t.test('a bank whose last memory is forgotten is no longer listed', async (t) => {
  const id = await retain('last', 'one')
  const listed = async () => (
    (await get('/v1/banks?limit=200')).json().banks.some((bank: { bank_id: string }) => bank.bank_id === 'last')
  )
  t.ok(await listed())
  await post('/v1/forget', { bank_id: 'last', memory_ids: [id] })
  t.notOk(await listed())
})

await t.test('a forget on a bank that does not exist deletes nothing', async (t) => {
  for (const selector of [{ memory_ids: [UNKNOWN] }, { tags: ['a'] }, { scope: 'all' }]) {
    t.same((await post('/v1/forget', { bank_id: 'nowhere', ...selector })).json(), { deleted_count: 0, memory_ids: [] })
  }
})

await t.test('dry_run counts and deletes nothing', async (t) => {
  const id = await retain('dry', 'one', { tags: ['a'] })
  for (const selector of [{ memory_ids: [id] }, { tags: ['a'] }, { scope: 'all' }]) {
    t.match((await post('/v1/forget', { bank_id: 'dry', dry_run: true, ...selector })).json(), {
      deleted_count: 1, memory_ids: [id], sample: [{ memory_id: id, bank_id: 'dry' }],
    })
    t.same(await left('dry'), ['one'])
  }
  t.equal((await post('/v1/forget', { bank_id: 'dry', scope: 'all', dry_run: false })).json().deleted_count, 1)
  t.same(await left('dry'), [])
})

await t.test('a forgotten memory is in no answer immediately afterwards', async (t) => {
  const text = longText(60)
  const id = await retain('everywhere', text, { tags: ['a'] })
  await retain('everywhere', 'The lighthouse stays.')
  await post('/v1/forget', { bank_id: 'everywhere', memory_ids: [id] })

  t.same(
    textsOf(await post('/v1/recall', { bank_id: 'everywhere', query: 'lighthouse keeper number7' })),
    ['The lighthouse stays.'],
  )
  t.same(textsOf(await post('/v1/recall', { bank_id: 'everywhere', query: 'lighthouse', tags: ['a'] })), [])
  t.same(
    (await post('/v1/reflect', {
      bank_id: 'everywhere', query: 'Does the lighthouse stay?', include_sources: 'all',
    })).json().sources.map((hit: { text: string }) => hit.text),
    ['The lighthouse stays.'],
  )
  refused(t, await get(`/v1/banks/everywhere/memories/${id}`), 404, 'not_found')
  t.same(await left('everywhere'), ['The lighthouse stays.'])
  t.match((await get('/v1/banks/everywhere/stats')).json(), { memory_count: 1, chunk_count: 1, tags: { length: 0 } })
  t.notMatch((await get('/v1/banks/everywhere/export')).body, /keeper/)
  t.same((await post('/v1/forget', { bank_id: 'everywhere', tags: ['a'] })).json(), {
    deleted_count: 0, memory_ids: [],
  })
})

await t.test('an expired memory is not counted', async (t) => {
  await retain('expired', 'one', { expires_at: '2026-01-15T10:00:01Z' })
  const id = await retain('expired', 'two')
  clock.advance(1000)
  t.same((await post('/v1/forget', { bank_id: 'expired', scope: 'all' })).json(), {
    deleted_count: 1, memory_ids: [id],
  })
})

await t.test('every memory counts, and the first 1000 ids are returned', async (t) => {
  const batch = (from: number, count: number) => ({
    bank_id: 'many',
    items: Array.from({ length: count }, (_, index) => ({ content: `Note ${from + index}.`, tags: ['n'] })),
  })
  await post('/v1/retain/batch', batch(0, 1000))
  await post('/v1/retain/batch', batch(1000, 3))
  const answer = (await post('/v1/forget', { bank_id: 'many', tags: ['n'] })).json()
  t.equal(answer.deleted_count, 1003)
  t.equal(new Set(answer.memory_ids).size, 1000)
  t.same(await left('many'), [])
})

await t.test('a forget accepts 1000 ids', async (t) => {
  const ids = Array.from({ length: 1000 }, (_, index) => `01936f0e-7b3c-7a10-8d2f-${String(index).padStart(12, '0')}`)
  t.equal((await post('/v1/forget', { bank_id: 'ids', memory_ids: ids })).statusCode, 200)
})

const wrong: Array<[what: string, field: string, body: Record<string, unknown>]> = [
  ['no selector', '', {}],
  ['only nulls for selectors', '', { memory_ids: null, tags: null, scope: null }],
  ['ids and tags', '', { memory_ids: [UNKNOWN], tags: ['a'] }],
  ['ids and scope', '', { memory_ids: [UNKNOWN], scope: 'all' }],
  ['tags and scope', '', { tags: ['a'], scope: 'all' }],
  ['all three', '', { memory_ids: [UNKNOWN], tags: ['a'], scope: 'all' }],
  ['a dry run without a selector', '', { dry_run: true }],
  ['no ids at all', 'memory_ids', { memory_ids: [] }],
  ['1001 ids', 'memory_ids', { memory_ids: Array.from({ length: 1001 }, () => UNKNOWN) }],
  ['an id that is none', 'memory_ids[1]', { memory_ids: [UNKNOWN, 'all'] }],
  ['an empty list of tags', 'tags', { tags: [] }],
  ['another scope', 'scope', { scope: 'some' }],
  ['tags_match beside ids', 'tags_match', { memory_ids: [UNKNOWN], tags_match: 'any' }],
  ['a text for dry_run', 'dry_run', { scope: 'all', dry_run: 'true' }],
  ['no bank', 'bank_id', { bank_id: undefined, scope: 'all' }],
  ['a pattern for the bank', 'bank_id', { bank_id: 'safe*', scope: 'all' }],
  ['an unknown field', 'filter', { scope: 'all', filter: 'x' }],
]
for (const [what, field, body] of wrong) {
  await t.test(`a forget with ${what} is refused and deletes nothing`, async (t) => {
    await retain('safe', 'kept', { tags: ['a'] })
    refusedFields(t, await post('/v1/forget', { bank_id: 'safe', ...body }), field)
    t.same(await left('safe'), ['kept'])
  })
}

await t.test('ids and tags require forget, scope all requires admin, and a dry run requires the same', async (t) => {
  const { post, get, retain } = await testApp(t, { file: ONE_PERMISSION_EACH })
  await retain('team', 'kept')
  const selectors: Array<[selector: Record<string, unknown>, permission: string]> = [
    [{ memory_ids: [UNKNOWN] }, 'forget'], [{ tags: ['a'] }, 'forget'], [{ scope: 'all' }, 'admin'],
  ]
  for (const [selector, permission] of selectors) {
    for (const asked of ['read', 'write', 'forget', 'admin'].filter((name) => name !== permission)) {
      for (const more of [{}, { dry_run: true }]) {
        const response = await post('/v1/forget', { bank_id: 'team', ...selector, ...more }, as(`user:${asked}`))
        refused(t, response, 403, 'access_denied', {
          detail: `Principal 'user:${asked}' is denied '${permission}' on bank 'team'`,
        })
      }
    }
    t.equal((await get('/v1/banks/team')).json().memory_count, 1)
    t.equal((await post('/v1/forget', { bank_id: 'team', ...selector }, as(`user:${permission}`))).statusCode, 200)
  }
})

await t.test('a dry run shows the first ten memories to callers who may read, and to no others', async (t) => {
  const { post, retain } = await testApp(t, { file: ONE_PERMISSION_EACH })
  for (let index = 0; index < 12; index++) await retain('team', `memory ${index}`, { tags: ['gone'] }, as('user:write'))
  const dryRun = async (principal: string, more: object = {}) => (
    (await post(
      '/v1/forget', { bank_id: 'team', tags: ['gone'], dry_run: true, ...more }, as(principal),
    )).json<ForgetAnswer>()
  )
  const shown = await dryRun('user:all')
  t.equal(shown.deleted_count, 12)
  t.same(shown.sample!.map(({ memory_id: id }) => id), shown.memory_ids.slice(0, 10))
  t.match(shown.sample![0], { text: /^memory/, tags: ['gone'] })
  const hidden = await dryRun('user:forget')
  t.equal(hidden.deleted_count, 12)
  t.notOk('sample' in hidden)
  t.notOk('sample' in await dryRun('user:all', { dry_run: false }), 'a forgotten memory is not shown')
})
