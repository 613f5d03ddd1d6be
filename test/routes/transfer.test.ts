import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { exportOf, HEADER, importInto, ndjson } from './ndjson.js'
import { as, longText, ONE_PERMISSION_EACH, refused, textsOf } from './support.js'

async function fill ({ retain, clock }: TestApp, bank: string): Promise<string[]> {
  const ids = [await retain(bank, 'Plain.')]
  clock.advance(1000)
  ids.push(await retain(bank, 'All of it:\na line feed, "quotes", \u{1f511} and \u2028.', {
    tags: ['b', 'a'],
    metadata: { n: 1.5, yes: true, none: null, text: 'x' },
    occurred_at: '2020-02-29T00:00:00+01:00',
    document_id: 'doc',
    source: 'src',
    expires_at: '2030-01-01T00:00:00Z',
  }))
  clock.advance(1000)
  ids.push(await retain(bank, longText(80)))
  return ids
}

await t.test('an export is NDJSON: a header line, then every memory, oldest first', async (t) => {
  const app = await testApp(t)
  const ids = await fill(app, 'bank')
  const response = await app.get('/v1/banks/bank/export')
  t.equal(response.statusCode, 200)
  t.match(response.headers['content-type'], /^application\/x-ndjson/)
  const [header, ...memories] = await exportOf(app, 'bank')
  t.same(header, { ...HEADER, bank_id: 'bank', exported_at: '2026-01-15T10:00:02.000Z', memory_count: 3 })
  t.same(memories.map((memory) => memory['memory_id']), ids)
  for (const memory of memories) {
    t.same(memory, (await app.get(`/v1/banks/bank/memories/${String(memory['memory_id'])}`)).json())
  }
})

await t.test('an export of a bank that does not exist has only its header', async (t) => {
  t.match(await exportOf(await testApp(t), 'nowhere'), [{ ...HEADER, bank_id: 'nowhere', memory_count: 0 }])
})

await t.test('an export contains no expired memory', async (t) => {
  const app = await testApp(t)
  await app.retain('bank', 'brief', { expires_at: '2026-01-15T10:00:01Z' })
  await app.retain('bank', 'kept')
  app.clock.advance(1000)
  t.match(await exportOf(app, 'bank'), [{ memory_count: 1 }, { text: 'kept' }])
})

await t.test('an exported bank that is imported elsewhere has the same export, with its ids and times', async (t) => {
  const here = await testApp(t)
  const there = await testApp(t)
  await fill(here, 'bank')
  there.clock.set('2026-05-01T00:00:00Z')
  const exported = (await here.get('/v1/banks/bank/export')).body
  t.same((await importInto(there, 'bank', exported)).json(), { imported: 3, skipped: 0, overwritten: 0 })
  const [, ...memories] = await exportOf(here, 'bank')
  t.same((await exportOf(there, 'bank')).slice(1), memories)
  t.same((await there.get('/v1/banks/bank/stats')).json(), (await here.get('/v1/banks/bank/stats')).json())
  const recall = { bank_id: 'bank', query: 'lighthouse number42' }
  t.same((await there.post('/v1/recall', recall)).json(), (await here.post('/v1/recall', recall)).json())
})

await t.test("the header's bank and the lines' are information only", async (t) => {
  const app = await testApp(t)
  await fill(app, 'from')
  t.same((await importInto(app, 'to', (await app.get('/v1/banks/from/export')).body)).json(), {
    imported: 3, skipped: 0, overwritten: 0,
  })
  t.match((await app.get('/v1/banks/to')).json(), { memory_count: 3 })
  t.match((await app.get('/v1/banks/from')).json(), { memory_count: 3 })
  t.ok((await exportOf(app, 'to')).every((line) => line['bank_id'] === 'to'))
})

await t.test('a line needs only its text', async (t) => {
  const app = await testApp(t)
  const nothing = {
    tags: null,
    metadata: null,
    occurred_at: null,
    expires_at: null,
    document_id: null,
    source: null,
    retained_at: null,
    memory_id: null,
    bank_id: null,
  }
  t.same(
    (await importInto(app, 'bank', ndjson(
      HEADER, { text: ' one ' }, { text: 'two', ...nothing }, { text: 'three', tags: [] },
    ))).json(),
    { imported: 3, skipped: 0, overwritten: 0 },
  )
  const [, ...memories] = await exportOf(app, 'bank')
  t.same(memories.map((memory) => memory['text']).sort(), ['one', 'three', 'two'])
  for (const memory of memories) {
    t.match(memory, {
      memory_id: /^[0-9a-f-]{36}$/,
      retained_at: '2026-01-15T10:00:00.000Z',
      tags: { length: 0 },
      metadata: {},
      occurred_at: null,
    })
  }
})

await t.test('an import of the header alone imports nothing', async (t) => {
  const app = await testApp(t)
  t.same((await importInto(app, 'bank', ndjson(HEADER))).json(), { imported: 0, skipped: 0, overwritten: 0 })
})

await t.test('other line ends, blank lines and a missing line end at the end are accepted', async (t) => {
  const app = await testApp(t)
  const payload = `\n${JSON.stringify(HEADER)}\r\n\r\n${JSON.stringify({ text: 'one' })}\r\n  ` +
    `\n${JSON.stringify({ text: 'two' })}`
  t.same((await importInto(app, 'bank', payload)).json(), { imported: 2, skipped: 0, overwritten: 0 })
})

await t.test('a conflict', async (t) => {
  const ID = '01936f0e-7b3c-7a10-8d2f-aaaaaaaaaaaa'
  const conflicts: Record<string, (id: string) => Record<string, unknown>> = {
    'by the same id': (id) => ({ memory_id: id, text: 'Other words.', metadata: { from: 'import' } }),
    'by the same id in another case': (id) => ({
      memory_id: id.toUpperCase(), text: 'Other words.', metadata: { from: 'import' },
    }),
    'by an exact repeat': () => ({ memory_id: ID, text: ' Words.  ', tags: ['b', 'a'], metadata: { from: 'import' } }),
    'by an exact repeat without an id': () => ({ text: 'Words.', tags: ['a', 'b'], metadata: { from: 'import' } }),
  }
  for (const [what, line] of Object.entries(conflicts)) {
    for (const query of ['', '?on_conflict=skip']) {
      await t.test(`${what} keeps the stored memory with ${query || 'no query'}`, async (t) => {
        const app = await testApp(t)
        const id = await app.retain('bank', 'Words.', { tags: ['a', 'b'] })
        t.same((await importInto(app, `bank${query}`, ndjson(HEADER, line(id), { text: 'New.' }))).json(), {
          imported: 1, skipped: 1, overwritten: 0,
        })
        t.match((await app.get(`/v1/banks/bank/memories/${id}`)).json(), { text: 'Words.', metadata: {} })
        t.equal((await app.get('/v1/banks/bank')).json().memory_count, 2)
      })
    }
    await t.test(`${what} replaces the stored memory with on_conflict=overwrite`, async (t) => {
      const app = await testApp(t)
      const id = await app.retain('bank', 'Words.', { tags: ['a', 'b'] })
      t.same(
        (await importInto(app, 'bank?on_conflict=overwrite', ndjson(HEADER, line(id), { text: 'New.' }))).json(),
        { imported: 1, skipped: 0, overwritten: 1 },
      )
      const [, ...memories] = await exportOf(app, 'bank')
      t.equal(memories.length, 2)
      t.ok(memories.some((memory) => (memory['metadata'] as { from?: string }).from === 'import'))
      const found = textsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'words' }))
      t.same(found, [String(line(id)['text']).trim()])
    })
  }

  await t.test('is also possible within the import itself', async (t) => {
    const lines = ndjson(HEADER, { text: 'Same.' }, { text: ' Same. ', metadata: { later: true } })
    const skipping = await testApp(t)
    t.same((await importInto(skipping, 'bank', lines)).json(), { imported: 1, skipped: 1, overwritten: 0 })
    const overwriting = await testApp(t)
    t.same((await importInto(overwriting, 'bank?on_conflict=overwrite', lines)).json(), {
      imported: 1, skipped: 0, overwritten: 1,
    })
    t.match(await exportOf(overwriting, 'bank'), [{ memory_count: 1 }, { metadata: { later: true } }])
  })

  await t.test('does not exist with a memory of another bank', async (t) => {
    const app = await testApp(t)
    const id = await app.retain('other', 'Words.')
    t.same((await importInto(app, 'bank', ndjson(HEADER, { memory_id: id, text: 'Words.' }))).json(), {
      imported: 1, skipped: 0, overwritten: 0,
    })
    t.match((await app.get(`/v1/banks/other/memories/${id}`)).json(), { text: 'Words.' })
  })
})

await t.test('importing an export into its own bank again changes nothing', async (t) => {
  const app = await testApp(t)
  await fill(app, 'bank')
  const exported = (await app.get('/v1/banks/bank/export')).body
  for (const [query, answer] of [
    ['skip', { imported: 0, skipped: 3, overwritten: 0 }], ['overwrite', { imported: 0, skipped: 0, overwritten: 3 }],
  ] as const) {
    t.same((await importInto(app, `bank?on_conflict=${query}`, exported)).json(), answer)
    t.equal((await app.get('/v1/banks/bank/export')).body, exported)
  }
})

await t.test('a memory that has expired since it was exported is skipped', async (t) => {
  const app = await testApp(t)
  t.same(
    (await importInto(app, 'bank', ndjson(
      HEADER, { text: 'old', expires_at: '2025-01-01T00:00:00Z' }, { text: 'new' },
    ))).json(),
    { imported: 1, skipped: 1, overwritten: 0 },
  )
})

await t.test('an imported memory is in every index at once', async (t) => {
  const app = await testApp(t)
  await importInto(app, 'bank', ndjson(HEADER, { text: 'A heron stands in the pond.', tags: ['bird'] }))
  t.equal(textsOf(await app.post('/v1/recall', { bank_id: 'bank', query: 'heron', tags: ['bird'] })).length, 1)
  t.match(
    (await app.post('/v1/retain', { bank_id: 'bank', content: 'A heron stands in the pond.', tags: ['bird'] })).json(),
    { deduplicated: true },
  )
})

await t.test('export and import require the permission admin', async (t) => {
  const app = await testApp(t, { file: ONE_PERMISSION_EACH })
  for (const principal of ['user:read', 'user:write', 'user:forget']) {
    const denial = { detail: `Principal '${principal}' is denied 'admin' on bank 'team'` }
    refused(t, await app.get('/v1/banks/team/export', as(principal)), 403, 'access_denied', denial)
    refused(t, await importInto(app, 'team', ndjson(HEADER), as(principal)), 403, 'access_denied', denial)
  }
  t.equal((await app.get('/v1/banks/team/export', as('user:admin'))).statusCode, 200)
  t.equal((await importInto(app, 'team', ndjson(HEADER), as('user:admin'))).statusCode, 200)
})

await t.test('an import that the store cannot store gives 503 and leaves nothing behind', async (t) => {
  const store = new InMemoryVectorStore()
  store.import = async () => { throw new Error('disk full') }
  const app = await testApp(t, {}, { store })
  refused(t, await importInto(app, 'bank', ndjson(HEADER, { text: 'one' })), 503, 'dependency_unavailable')
  t.match((await app.get('/v1/banks/bank')).json(), { memory_count: 0 })
})
