import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { importInto } from './ndjson.js'

/** A bank with every state and a redacted version. */
async function fill (app: TestApp): Promise<void> {
  const { clock, inject, post, retain } = app
  await retain('home', 'Ada lives in Rome.', { key: 'ada/home', valid_from: '2020-01-01T00:00:00Z' })
  clock.advance(60_000)
  await retain('home', 'Ada lives in Milan.', { key: 'ada/home', speaker: 'Ada' })
  const tea = await retain('home', 'Ada likes tea.', { tags: ['taste'] })
  for (const content of ['Ada likes green tea.', 'Ada likes mint tea.']) {
    clock.advance(60_000)
    await inject({
      method: 'PATCH', url: `/v1/banks/home/memories/${tea}`, payload: { content, reason: 'She said so.' },
    })
  }
  await post(`/v1/banks/home/memories/${tea}/versions/2/redact`, {})
  const gone = await retain('home', 'Ada has a dog.', { expires_at: '2026-02-01T00:00:00Z' })
  clock.advance(60_000)
  await post(`/v1/banks/home/memories/${gone}/retire`, { reason: 'invalidated' })
  await inject({ method: 'PATCH', url: `/v1/banks/home/memories/${tea}`, payload: { tags: null } })
}

/** All that can be read of a bank. */
async function everything ({ get, post }: TestApp, bank: string): Promise<unknown> {
  const { memories } = (await get(`/v1/banks/${bank}/memories?state=all&limit=200`)).json<{
    memories: Array<{ memory_id: string }>
  }>()
  const versions: unknown[] = []
  for (const { memory_id: id } of memories) {
    versions.push((await get(`/v1/banks/${bank}/memories/${id}/versions`)).json())
  }
  const then: unknown[] = []
  for (const minute of [0, 1, 2, 3]) {
    const { hits } = (await post('/v1/recall', {
      bank_id: bank, query: 'Ada', as_of: `2026-01-15T10:0${minute}:00Z`, state: 'all',
    })).json<{ hits: Array<Record<string, unknown>> }>()
    then.push(hits.map(({ text, state, version }) => ({ text, state, version })))
  }
  return JSON.parse(JSON.stringify({ memories, versions, then }).replaceAll(`"bank_id":"${bank}"`, '"bank_id":"b"'))
}

t.test('an export with versions is imported as it was, again and again', async (t) => {
  const app = await testApp(t)
  await fill(app)
  const exported = (await app.get('/v1/banks/home/export?versions=true')).body
  t.match(JSON.parse(exported.split('\n')[0]!), { memory_count: exported.trim().split('\n').length - 1 })
  const imported = await importInto(app, 'copy', exported)
  t.same(imported.json(), { imported: 4, skipped: 0, overwritten: 0 })
  const before = await everything(app, 'home')
  t.same(await everything(app, 'copy'), before)
  t.same((await importInto(app, 'copy', exported)).json(), { imported: 0, skipped: 4, overwritten: 0 })
  t.same((await importInto(app, 'copy?on_conflict=overwrite', exported)).json(), {
    imported: 0, skipped: 0, overwritten: 4,
  })
  t.same(await everything(app, 'copy'), before)
})

t.test('an export without versions has what is current', async (t) => {
  const app = await testApp(t)
  await fill(app)
  const lines = (await app.get('/v1/banks/home/export')).body.trim().split('\n').slice(1)
    .map((line) => JSON.parse(line) as { text: string, state: string })
  t.same(lines.map(({ text }) => text).sort(), ['Ada likes mint tea.', 'Ada lives in Milan.'])
})

t.test('an earlier version without the last one, or twice, is refused by its line', async (t) => {
  const app = await testApp(t)
  await fill(app)
  const [header, ...lines] = (await app.get('/v1/banks/home/export?versions=true')).body.trim().split('\n')
  const earlier = lines.filter((line) => line.includes('"ended_at"'))
  const alone = await importInto(app, 'copy', [header, earlier[0]].join('\n'))
  t.equal(alone.statusCode, 400)
  t.match(alone.json(), { errors: [{ field: 'line 2', message: /earlier version/ }] })
  const twice = await importInto(app, 'copy', [header, ...lines, earlier[0]].join('\n'))
  t.match(twice.json(), { errors: [{ message: /twice/ }] })
  t.same((await app.get('/v1/banks/copy/memories?state=all')).json(), { memories: [], next_cursor: null })
})
