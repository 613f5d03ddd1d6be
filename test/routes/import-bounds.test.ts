import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { HEADER, importInto, ndjson } from './ndjson.js'
import { latch } from './reflecting.js'
import { as, ONE_PERMISSION_EACH, refused, refusedFields } from './support.js'

async function bounded (t: Test, bounds: FileConfig['bounds'], file: FileConfig = {}): Promise<TestApp> {
  return await testApp(t, { file: { ...file, bounds: bounds ?? {} } })
}

await t.test('an import with more than bounds.import_lines lines is refused before any is read', async (t) => {
  const app = await bounded(t, { import_lines: 4 })
  const three = ndjson(HEADER, { text: 'One.' }, '', { text: 'Two.' })
  t.equal((await importInto(app, 'home', three)).json().imported, 2)
  t.equal((await importInto(app, 'home', three.trimEnd())).statusCode, 200, 'without a line feed at the end')
  for (const more of ['\n', '{"text": "Three."}', 'no JSON']) {
    refused(t, await importInto(app, 'home', `${three}${more}`), 413, 'body_too_large', {
      detail: /4 lines \(bounds\.import_lines\)/,
    })
  }
  refused(t, await importInto(app, 'home', 'x\n'.repeat(5)), 413, 'body_too_large', { detail: /bounds\.import_lines/ })
})

await t.test('an import has at most bounds.import_bytes bytes, whatever the limit of other routes is', async (t) => {
  const line = { text: 'x'.repeat(2000) }
  for (const [bytes, maxBodyBytes, status] of [[1024, 1_000_000, 413], [1_000_000, 1024, 200]] as const) {
    const app = await testApp(t, { maxBodyBytes, file: { bounds: { import_bytes: bytes } } })
    const response = await importInto(app, 'home', ndjson(HEADER, line))
    t.equal(response.statusCode, status)
    if (status === 413) refused(t, response, 413, 'body_too_large')
  }
})

await t.test('a line that is longer than any memory of the bank, or nested deeper than a body, ' +
  'is not parsed', async (t) => {
  const app =
    await bounded(t, { json_depth: 8 }, { banks: { brief: { barriers: { validation: { max_content_length: 10 } } } } })
  const long = `{"text": "x", "tags": ["${'a'.repeat(600_000)}"]}`
  refused(t, await importInto(app, 'brief', ndjson(HEADER, long)), 413, 'body_too_large', {
    detail: /^Line 2 is longer than \d+ bytes/,
  })
  refusedFields(t, await importInto(app, 'home', ndjson(HEADER, long)), 'line 2: tags[0]')
  const nested = (depth: number) => `{"text": ${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  refused(t, await importInto(app, 'home', ndjson(HEADER, nested(9))), 413, 'body_too_large', {
    detail: /^Line 2 .*8 levels .*\(bounds\.json_depth\)/,
  })
  refusedFields(t, await importInto(app, 'home', ndjson(HEADER, nested(8))), 'line 2: text')
  t.equal(
    (await importInto(app, 'home', ndjson(HEADER, { text: '[[[[[[[[[[ \\" {{{{{{{{{{ "[[[[[[[[[[' }))).statusCode, 200,
    'brackets in a text do not count as nesting',
  )
})

await t.test('the longest text fits into a line, in any form of JSON', async (t) => {
  const app = await bounded(t, {}, { barriers: { validation: { max_content_length: 50_000 } } })
  t.equal(
    (await importInto(app, 'home', ndjson(HEADER, `{"text": "${'\\ud83d\\ude00'.repeat(50_000)}"}`))).json().imported,
    1,
  )
})

await t.test('invalid UTF-8 is refused with its line, and none of it is stored in another form', async (t) => {
  const app = await bounded(t, {})
  const payload = Buffer.concat([
    Buffer.from(`${ndjson(HEADER, { text: 'Caf\u00e9.' })}{"text": "caf`), Buffer.from([0xe9]), Buffer.from('"}\n'),
  ])
  refusedFields(t, await importInto(app, 'home', payload), 'line 3')
  t.equal((await app.get('/v1/banks/home')).json().memory_count, 0)
  t.equal(
    (await importInto(app, 'home', Buffer.from(`\ufeff${ndjson(HEADER, { text: 'Caf\u00e9.' })}`))).json().imported, 1,
    'a byte order mark is ignored',
  )
})

await t.test('the first bad line ends an import, and a batch ends with its first bad item', async (t) => {
  let ids = 0
  const app = await testApp(t, {}, { newId: () => `01936f0e-7b3c-7a10-8d2f-${String(ids++).padStart(12, '0')}` })
  refusedFields(
    t, await importInto(app, 'home', ndjson(HEADER, { text: 'One.' }, { text: ' ' }, { text: 'Two.' }, 'no JSON')),
    'line 3: text',
  )
  t.equal(ids, 2, 'no line after the bad one is prepared')
  const items = [{ content: 'One.' }, { content: ' ' }, { content: 'Two.' }, { content: ' ' }]
  refusedFields(t, await app.post('/v1/retain/batch', { bank_id: 'home', items }), 'items[1].content')
  t.equal(ids, 2, 'no item of a batch with a bad one is prepared')
})

await t.test('a caller that may not import learns nothing about the lines', async (t) => {
  const app = await bounded(t, { import_lines: 2 }, ONE_PERMISSION_EACH)
  for (const payload of ['no JSON', 'x\n'.repeat(10), '', ndjson(HEADER, { text: ' ' })]) {
    refused(t, await importInto(app, 'team', payload, as('user:write')), 403, 'access_denied')
  }
  refusedFields(t, await importInto(app, 'team', 'no JSON', as('user:admin')), 'line 1')
})

await t.test('no reader sees a part of an import, and a bounded number of imports takes turns', async (t) => {
  const store = new InMemoryVectorStore()
  const takes = store.import.bind(store)
  const reached = latch()
  const released = latch()
  let begun = 0
  store.import = async (...call) => {
    if (begun++ === 0) {
      reached.open()
      await released.opened
    }
    return await takes(...call)
  }
  const app = await testApp(t, {}, { store })
  const lines = (from: string) => ndjson(HEADER, { text: `${from} one.` }, { text: `${from} two.` })
  const first = importInto(app, 'home', lines('First'))
  await reached.opened
  const waiting = Array.from({ length: 4 }, async (_, index) => (
    await importInto(app, 'home', lines(`Waiting ${index}`))
  ))
  const hasCome = async () => {
    // Answered by the same process after the ones before it have come in.
    t.equal((await app.get('/v1/banks/home')).json().memory_count, 0, 'nothing is seen')
  }
  await hasCome()
  await hasCome()
  refused(t, await importInto(app, 'home', lines('Late')), 503, 'server_busy', { retry_after_seconds: 1 })
  t.equal((await app.post('/v1/recall', { bank_id: 'home', query: 'first one' })).json().hits.length, 0)
  t.equal((await app.post('/v1/forget', { bank_id: 'home', scope: 'all' })).json().deleted_count, 0)
  t.equal((await importInto(app, 'work', lines('Elsewhere'))).statusCode, 200, 'another bank does not wait')
  t.equal(begun, 2)
  released.open()
  for (const response of [await first, ...await Promise.all(waiting)]) {
    t.same(response.json(), { imported: 2, skipped: 0, overwritten: 0 })
  }
  t.equal((await app.get('/v1/banks/home')).json().memory_count, 10)
})
