import { Readable } from 'node:stream'
import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { exportOf, HEADER, importInto, ndjson } from './ndjson.js'
import { refused, refusedFields } from './support.js'

async function countOf ({ get }: TestApp, bank: string): Promise<number> {
  return (await get(`/v1/banks/${bank}`)).json().memory_count
}

const good = [{ text: 'one' }, { text: 'two' }]

const badLines: Array<[what: string, field: string, line: unknown]> = [
  ['is not JSON', 'line 4', '{"text": "thr'],
  ['is JSON of another kind', 'line 4', '"text"'],
  ['is a list', 'line 4', []],
  ['has a member __proto__', 'line 4', '{"text": "x", "__proto__": {"a": 1}}'],
  ['has no text', 'line 4: text', {}],
  ['has null for its text', 'line 4: text', { text: null }],
  ['has a number for its text', 'line 4: text', { text: 5 }],
  ['has a blank text', 'line 4', { text: ' ' }],
  ['has a text that is too long', 'line 4', { text: 'a'.repeat(50_001) }],
  ['has an invalid id', 'line 4: memory_id', { text: 'x', memory_id: '17' }],
  ['has too much metadata', 'line 4: metadata', { text: 'x', metadata: { k: 'v'.repeat(5000) } }],
  ['has an instant without an offset', 'line 4: occurred_at', { text: 'x', occurred_at: '2025-01-01T00:00:00' }],
  ['has an invalid retained_at', 'line 4: retained_at', { text: 'x', retained_at: 'now' }],
  ['has an invalid expires_at', 'line 4: expires_at', { text: 'x', expires_at: '2025-02-30T00:00:00Z' }],
  ['has an unknown member', 'line 4: score', { text: 'x', score: 1 }],
  ['is a second header', 'line 4: text', HEADER],
]

await t.test('an import with a bad last line stores nothing, and the error names the line', async (t) => {
  const app = await testApp(t)
  for (const [what, field, line] of badLines) {
    for (const query of ['', '?on_conflict=overwrite']) {
      await t.test(`the line ${what} ${query}`, async (t) => {
        const response = await importInto(app, `bank${query}`, ndjson(HEADER, ...good, line))
        refused(t, response, 400, 'invalid_request')
        t.ok(
          response.json().errors.some((error: { field: string }) => error.field.startsWith(field)),
          response.body.slice(0, 300),
        )
        t.equal(await countOf(app, 'bank'), 0)
      })
    }
  }
})

await t.test('the error for a member that is not allowed names it', async (t) => {
  const app = await testApp(t)
  const cases = { '"__proto__"': '"__proto__": {}', '"constructor"': '"constructor": {"prototype": {}}' }
  for (const [name, member] of Object.entries(cases)) {
    const line = `{"text": "x", "metadata": {${member}}}`
    refused(t, await importInto(app, 'bank', ndjson(HEADER, ...good, line)), 400, 'invalid_request', {
      detail: new RegExp(`^line 4: must not have a member .*${name}`),
    })
    const body = `{"bank_id": "bank", "content": "x", "metadata": {${member}}}`
    const headers = { 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/v1/retain', headers, payload: body })
    refused(t, response, 400, 'invalid_json', {
      detail: new RegExp(`^Request body must not have a member .*${name}`),
    })
  }
})

await t.test('lines are counted as an editor counts them', async (t) => {
  const app = await testApp(t)
  refusedFields(t, await importInto(app, 'bank', `${ndjson(HEADER)}\n\n${ndjson({ text: 'x' }, 'nonsense')}`), 'line 5')
})

const badHeaders: Record<string, string> = {
  'no header': ndjson(...good),
  'another format': ndjson({ ...HEADER, format: 'other' }, ...good),
  'another version': ndjson({ ...HEADER, version: 2 }, ...good),
  'no version': ndjson({ format: HEADER.format }, ...good),
  'a header that is no object': ndjson('null', ...good),
  'a header that is not JSON': ndjson('MEMORY EXPORT', ...good),
}
for (const [what, payload] of Object.entries(badHeaders)) {
  await t.test(`an import with ${what} is refused`, async (t) => {
    const app = await testApp(t)
    refusedFields(t, await importInto(app, 'bank', payload), 'line 1')
    t.equal(await countOf(app, 'bank'), 0)
  })
}

await t.test('a refusal repeats no value of the import', async (t) => {
  const app = await testApp(t)
  for (const payload of [
    ndjson({ ...HEADER, version: 'hunter2' }), ndjson({ ...HEADER, format: 'hunter2' }), ndjson(HEADER, 'hunter2'),
    ndjson(HEADER, { text: 'x', memory_id: 'hunter2', occurred_at: 'hunter2' }),
  ]) {
    const response = await importInto(app, 'bank', payload)
    t.equal(response.statusCode, 400)
    t.notMatch(response.body, /hunter2/)
  }
})

for (const [what, payload] of Object.entries({ 'an empty body': '', 'nothing but blank lines': '\n \r\n' })) {
  await t.test(`${what} is refused`, async (t) => {
    const app = await testApp(t)
    refused(t, await importInto(app, 'bank', payload), 400, 'invalid_request', { detail: 'The import is empty' })
  })
}

await t.test('a request without a body and without a type is refused as empty', async (t) => {
  const { inject } = await testApp(t)
  refused(t, await inject({ method: 'POST', url: '/v1/banks/bank/import' }), 400, 'invalid_request', {
    detail: 'The import is empty',
  })
})

await t.test('an import accepts NDJSON and no other type', async (t) => {
  const app = await testApp(t)
  for (const type of ['application/x-ndjson', 'application/ndjson', 'application/x-ndjson; charset=utf-8']) {
    t.equal((await importInto(app, 'bank', ndjson(HEADER), { 'content-type': type })).statusCode, 200, type)
  }
  for (const type of ['application/json', 'text/plain', 'application/octet-stream', 'application/jsonl', 'nonsense']) {
    refused(
      t, await importInto(app, 'bank', ndjson(HEADER), { 'content-type': type }), 415, 'unsupported_media_type',
      { detail: 'Unsupported Content-Type: this route takes application/x-ndjson' },
    )
  }
})

await t.test('an import that is compressed or in another charset is 415', async (t) => {
  const app = await testApp(t)
  const ask = async (headers: Record<string, string>) => await importInto(app, 'bank', ndjson(HEADER), {
    'content-type': 'application/x-ndjson', ...headers,
  })
  refused(t, await ask({ 'content-encoding': 'gzip' }), 415, 'unsupported_media_type', { detail: /uncompressed/ })
  refused(t, await ask({ 'content-type': 'application/x-ndjson; charset=latin1' }), 415, 'unsupported_media_type', {
    detail: 'The charset of the body must be UTF-8',
  })
})

await t.test('an import over the body limit is 413, also in chunks without a length', async (t) => {
  const app = await testApp(t, { file: { bounds: { import_bytes: 1024 } } })
  const payload = ndjson(HEADER, { text: 'x'.repeat(1024) })
  refused(t, await importInto(app, 'bank', payload), 413, 'body_too_large')
  const chunked = await app.inject({
    method: 'POST',
    url: '/v1/banks/bank/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: Readable.from([payload.slice(0, 500), payload.slice(500)]),
  })
  refused(t, chunked, 413, 'body_too_large')
  t.equal(await countOf(app, 'bank'), 0)
})

await t.test('only skip and overwrite resolve a conflict, and there is no other parameter', async (t) => {
  const app = await testApp(t)
  refusedFields(t, await importInto(app, 'bank?on_conflict=merge', ndjson(HEADER, ...good)), 'on_conflict')
  refusedFields(t, await importInto(app, 'bank?dry_run=true', ndjson(HEADER, ...good)), 'dry_run')
  t.equal(await countOf(app, 'bank'), 0)
})

await t.test('an import passes the same barriers as a retain', async (t) => {
  const app = await testApp(t, {
    file: {
      barriers: {
        validation: { max_content_length: 10 }, metadata: { blocked_keys: ['SSN'], max_metadata_size_bytes: 20 },
      },
      homeostasis: { retain_max_content_bytes: 12 },
      banks: {
        wide: { barriers: { validation: { max_content_length: 100 } }, homeostasis: { retain_max_content_bytes: 100 } },
      },
    },
  })
  refused(t, await importInto(app, 'bank', ndjson(HEADER, { text: 'a'.repeat(11) })), 400, 'invalid_request', {
    detail: /^line 2: .* 10 characters/,
  })
  refused(t, await importInto(app, 'bank', ndjson(HEADER, { text: 'é'.repeat(7) })), 400, 'invalid_request', {
    detail: /^line 2: .* 12 bytes/,
  })
  refusedFields(
    t, await importInto(app, 'bank', ndjson(HEADER, { text: 'x', metadata: { k: 'v'.repeat(20) } })),
    'line 2: metadata',
  )
  t.equal((await importInto(app, 'wide', ndjson(HEADER, { text: 'a'.repeat(11) }))).json().imported, 1)
  await importInto(app, 'bank', ndjson(HEADER, { text: 'kept', metadata: { ssn: '123-45-6789', k: 1 } }))
  t.match((await exportOf(app, 'bank'))[1], { text: 'kept', metadata: { ssn: undefined, k: 1 } })
})

await t.test('the limits of retain do not count an import', async (t) => {
  const app = await testApp(t, {
    file: { homeostasis: { rate_limits: { retain_per_minute: 1 }, quotas: { retain_per_day: 1 } } },
  })
  for (let round = 0; round < 3; round++) {
    t.equal(
      (await importInto(app, 'bank', ndjson(HEADER, { text: `a ${round}` }, { text: `b ${round}` }))).statusCode, 200,
    )
  }
  t.equal((await app.post('/v1/retain', { bank_id: 'bank', content: 'mine' })).statusCode, 200)
  refused(t, await app.post('/v1/retain', { bank_id: 'bank', content: 'more' }), 429, 'rate_limited')
  t.equal((await importInto(app, 'bank', ndjson(HEADER, { text: 'last' }))).statusCode, 200)
})
