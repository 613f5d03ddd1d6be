import t from 'tap'
import { testApp } from '../helpers/app.js'
import { exportOf, HEADER, importInto, ndjson } from './ndjson.js'
import { hitsOf, refusedFields } from './support.js'
import { memoryOf, openSource, sendJson } from './webhooks.js'

const RETAINED: Array<[fields: Record<string, unknown>, speaker: string | null, metadata: Record<string, unknown>]> = [
  [{ speaker: 'Caroline' }, 'Caroline', { speaker: 'Caroline' }],
  [{ speaker: '\u3000 Zoë O\'Neil \u200b' }, 'Zoë O\'Neil', { speaker: 'Zoë O\'Neil' }],
  [{ speaker: '\u{1f469}\u200d\u{1f680}'.repeat(42) }, '\u{1f469}\u200d\u{1f680}'.repeat(42), {}],
  [{ speaker: 'Bob', metadata: { a: 1 } }, 'Bob', { a: 1, speaker: 'Bob' }],
  [{ speaker: 'Bob', metadata: { speaker: ' Bob\n' } }, 'Bob', { speaker: ' Bob\n' }],
  [{ speaker: 'Bob', metadata: { speaker: null } }, 'Bob', { speaker: 'Bob' }],
  [{ speaker: 'Bob', metadata: { role: 'user' } }, 'Bob', { role: 'user', speaker: 'Bob' }],
  [{ speaker: 'user', metadata: { role: 'user' } }, 'user', { role: 'user' }],
  [{ metadata: { role: 'Assistant' } }, 'Assistant', { role: 'Assistant' }],
  [{ metadata: { speaker: 'Ann' } }, 'Ann', { speaker: 'Ann' }],
  [{ metadata: { speaker: 'line\nbreak' } }, null, { speaker: 'line\nbreak' }],
  [{ speaker: null }, null, {}],
]

await t.test('a memory is kept with who said it', async (t) => {
  const { retain, get } = await testApp(t)
  for (const [index, [fields, speaker, metadata]] of RETAINED.entries()) {
    const id = await retain('b', `Memory ${index}.`, fields)
    t.match((await get(`/v1/banks/b/memories/${id}`)).json(), { speaker, metadata }, JSON.stringify(fields))
  }
})

const REFUSED: Array<[field: string, fields: Record<string, unknown>]> = [
  ['speaker', { speaker: '' }],
  ['speaker', { speaker: ' \t\u200b' }],
  ['speaker', { speaker: 's'.repeat(129) }],
  ['speaker', { speaker: 'a\nb' }],
  ['speaker', { speaker: 'a\u0000b' }],
  ['speaker', { speaker: 'a\u001b[31mb' }],
  ['speaker', { speaker: '\u202eenilorac' }],
  ['speaker', { speaker: '\ud800' }],
  ['speaker', { speaker: 7 }],
  ['speaker', { speaker: ['Caroline'] }],
  ['speaker', { speaker: { name: 'Caroline' } }],
  ['speaker', { speaker: 'Bob', metadata: { speaker: 'bob' } }],
  ['speaker', { speaker: '7', metadata: { speaker: 7 } }],
]

await t.test('a speaker that is none is refused by name in retain, batch and import', async (t) => {
  const app = await testApp(t)
  for (const [field, fields] of REFUSED) {
    refusedFields(t, await app.post('/v1/retain', { bank_id: 'b', content: 'x', ...fields }), field)
    const items = [{ content: 'x' }, { content: 'y', ...fields }]
    refusedFields(t, await app.post('/v1/retain/batch', { bank_id: 'b', items }), `items[1].${field}`)
    const imported = await importInto(app, 'b', ndjson(HEADER, { text: 'x' }, { text: 'y', ...fields }))
    t.equal(imported.statusCode, 400)
    t.match(imported.json<{ errors: unknown }>().errors, [{ field: `line 3: ${field}` }], JSON.stringify(fields))
  }
  t.equal((await app.get('/v1/banks/b')).json().memory_count, 0)
})

await t.test('the import of an export makes the same memories, whatever states their speaker', async (t) => {
  const here = await testApp(t)
  for (const [index, [fields]] of RETAINED.entries()) await here.retain('b', `Memory ${index}.`, fields)
  const [header, ...memories] = await exportOf(here, 'b')
  t.strictSame(memories.map(({ speaker }) => speaker), RETAINED.map(([, speaker]) => speaker))
  const there = await testApp(t)
  t.equal((await importInto(there, 'b', ndjson(header, ...memories))).statusCode, 200)
  t.strictSame((await exportOf(there, 'b')).slice(1), memories)
})

await t.test('barriers on metadata neither remove nor count the field', async (t) => {
  const { post, get } = await testApp(t, {
    file: { barriers: { metadata: { blocked_keys: ['speaker', 'role'], max_metadata_size_bytes: 10 } } },
  })
  const retain = async (fields: Record<string, unknown>) => (
    (await post('/v1/retain', { bank_id: 'b', content: JSON.stringify(fields), ...fields })).json()
  )
  const kept = await retain({ speaker: 'Caroline of Clerkenwell', metadata: { a: 1 } })
  t.match((await get(`/v1/banks/b/memories/${kept.memory_id}`)).json(), {
    speaker: 'Caroline of Clerkenwell', metadata: { a: 1, speaker: 'Caroline of Clerkenwell' },
  })
  t.equal(kept.redactions, undefined)
  const removed = await retain({ metadata: { speaker: 'Ann' } })
  t.same(removed.redactions, ['metadata.speaker'])
  t.equal((await get(`/v1/banks/b/memories/${removed.memory_id}`)).json().speaker, null)
  const role = await retain({ speaker: 'user', metadata: { role: 'user' } })
  t.same(role.redactions, ['metadata.role'])
  t.match((await get(`/v1/banks/b/memories/${role.memory_id}`)).json(), { metadata: { speaker: 'user' } })
  t.equal((await retain({ speaker: 'x', metadata: { long: 'x'.repeat(9) } })).code, 'invalid_request')
})

await t.test('a webhook event may say who speaks', async (t) => {
  const app = await testApp(t, { file: { sources: { open: openSource() } } })
  t.equal((await memoryOf(app, await sendJson(app, 'open', { content: 'Hello.', speaker: 'Ann' }))).speaker, 'Ann')
  refusedFields(t, await sendJson(app, 'open', { content: 'Hello.', speaker: 7 }), 'speaker')
})

const FILTERS: Array<[speakers: string[], texts: string[]]> = [
  [['CAROLINE'], ['Tea by Caroline.']],
  [[' каролина '], ['Tea by КАРОЛИНА.']],
  [['User', 'caroline'], ['Tea by Caroline.', 'Tea by user.']],
  [['human'], []],
]

for (const [strategy, weights] of Object.entries({
  lexical: { lexical: 1, semantic: 0 }, semantic: { lexical: 0, semantic: 1 },
})) {
  await t.test(`recall, explain, reflect and lists keep to the speakers: ${strategy}`, async (t) => {
    const { post, get, retain } = await testApp(t, { file: { retrieval: { weights } } })
    await retain('b', 'Tea by Caroline.', { speaker: 'Caroline' })
    await retain('b', 'Tea by КАРОЛИНА.', { metadata: { speaker: 'КАРОЛИНА' } })
    await retain('b', 'Tea by user.', { metadata: { role: 'user' } })
    const nobody = await retain('b', 'Tea by nobody.')
    for (const [speakers, texts] of FILTERS) {
      const request = { bank_id: 'b', query: 'Who drinks tea?', speakers }
      const recall = await post('/v1/recall', request)
      t.same(hitsOf(recall).map(({ text }) => text).sort(), texts)
      t.equal(recall.json().total_available, texts.length)
      const { sources } = (await post('/v1/reflect', { ...request, include_sources: true })).json()
      t.ok((sources as Array<{ text: string }>).every(({ text }) => texts.includes(text)))
      const query = speakers.map((speaker) => `speakers=${encodeURIComponent(speaker)}`).join('&')
      const { memories } = (await get(`/v1/banks/b/memories?${query}`)).json()
      t.same((memories as Array<{ text: string }>).map(({ text }) => text).sort(), texts)
      const explained = (await post('/v1/recall/explain', { ...request, expect: nobody })).json()
      t.match(explained.stages.filter, { passed: false, failed: ['speakers'] })
    }
  })
}

const WRONG: Array<[field: string, speakers: unknown]> = [
  ['speakers', []],
  ['speakers', 'Caroline'],
  ['speakers', Array.from({ length: 101 }, (_, index) => `s${index}`)],
  ['speakers[0]', ['']],
  ['speakers[1]', ['a', ' \u200b']],
  ['speakers[0]', ['s'.repeat(129)]],
  ['speakers[0]', ['a\nb']],
  ['speakers[0]', ['a\u0000']],
  ['speakers[0]', [7]],
  ['speakers[0]', [['a']]],
]

await t.test('speakers that are none are refused by name', async (t) => {
  const { post, get } = await testApp(t)
  for (const [field, speakers] of WRONG) {
    for (const route of ['recall', 'reflect']) {
      refusedFields(t, await post(`/v1/${route}`, { bank_id: 'b', query: 'tea', speakers }), field)
    }
  }
  refusedFields(t, await get('/v1/banks/b/memories?speakers=a&speakers=%20'), 'speakers[1]')
  refusedFields(t, await get(`/v1/banks/b/memories?speakers=${'s'.repeat(129)}`), 'speakers[0]')
})

await t.test('the statistics of a bank name its speakers, the most frequent first', async (t) => {
  const { retain, get } = await testApp(t)
  for (const [index, speaker] of ['Bob', 'Ann', 'Ann', 'ann', undefined].entries()) {
    await retain('b', `Memory ${index}.`, speaker === undefined ? {} : { speaker })
  }
  t.strictSame((await get('/v1/banks/b/stats')).json().speakers, [
    { speaker: 'Ann', memory_count: 2 }, { speaker: 'Bob', memory_count: 1 }, { speaker: 'ann', memory_count: 1 },
  ])
  t.strictSame((await get('/v1/banks/none/stats')).json().speakers, [])
})

await t.test('a memory with the field ranks like one with the metadata', async (t) => {
  const { retain, post } = await testApp(t)
  const texts = ['I went to the support group yesterday.', 'We went hiking, and the support was great.']
  for (const [bank, states] of [
    ['field', (speaker: string) => ({ speaker })],
    ['metadata', (speaker: string) => ({ metadata: { speaker } })],
    ['nobody', () => ({})],
  ] as const) {
    await retain(bank, texts[0]!, states('Caroline'))
    await retain(bank, texts[1]!, states('Melanie'))
  }
  const ranked = async (bank: string) => (
    hitsOf(await post('/v1/recall', { bank_id: bank, query: 'When did Caroline go to the support group?' }))
      .map(({ text, score }) => [text, score])
  )
  t.strictSame(await ranked('field'), await ranked('metadata'))
  t.notSame(await ranked('field'), await ranked('nobody'), 'the speaker counts')
  t.equal((await ranked('field'))[0]![0], texts[0])
})
