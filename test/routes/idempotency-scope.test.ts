import t from 'tap'
import { startJwksServer } from '../helpers/jwks-server.js'
import { rs256, rsaKey } from '../helpers/tokens.js'
import { testApp } from '../helpers/app.js'
import { HEADER, importInto, ndjson } from './ndjson.js'
import { as, refused } from './support.js'

const KEY = { 'idempotency-key': 'key' }

await t.test('a key belongs to its principal', async (t) => {
  const { post } = await testApp(t)
  const retain = async (headers: Record<string, string>) => (
    await post('/v1/retain', { bank_id: 'bank', content: 'One.' }, { ...KEY, ...headers })
  )
  t.equal((await retain(as('user:ada'))).json().stored, true)
  for (const headers of [as('user:bob'), as('user:ADA'), {}]) {
    const response = await retain(headers)
    t.equal(response.headers['idempotent-replayed'], undefined)
    t.equal(response.json().stored, false)
  }
  const again = await retain(as('user:ada'))
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.json().stored, true)
})

await t.test('another principal may use the same key with another body', async (t) => {
  const { post } = await testApp(t)
  for (const name of ['ada', 'bob']) {
    t.equal(
      (await post('/v1/retain', { bank_id: 'bank', content: name }, { ...KEY, ...as(`user:${name}`) })).json().stored,
      true,
    )
  }
})

await t.test('a key belongs to its tenant, and to the principal that the caller acts for', async (t) => {
  const key = rsaKey('one')
  const provider = await startJwksServer(key)
  t.teardown(async () => { await provider.close() })
  const { post } = await testApp(t, {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: provider.url, oidcIssuer: 'https://id.test', oidcAudience: 'memory' },
    file: { identity: { obo_enabled: true } },
  })
  const retain = async (claims: Record<string, unknown>) => {
    const token = rs256({ iss: 'https://id.test', aud: 'memory', sub: 'ada', exp: 4_000_000_000, ...claims }, key)
    return await post(
      '/v1/retain', { bank_id: 'bank', content: `One of ${JSON.stringify(claims)}.` },
      { ...KEY, authorization: `Bearer ${token}` },
    )
  }
  const callers = [
    {}, { tid: 'acme' }, { tid: 'zeta' }, { act: { sub: 'user:ada' }, sub: 'bob' },
    { tid: 'acme', act: { sub: 'user:ada' }, sub: 'bob' },
  ]
  const first: string[] = []
  for (const claims of callers) {
    const response = await retain(claims)
    t.match(
      { status: response.statusCode, replayed: response.headers['idempotent-replayed'] },
      { status: 200, replayed: undefined },
    )
    first.push(response.body)
  }
  t.same(await Promise.all(callers.map(async (claims) => (await retain(claims)).body)), first)
})

await t.test('a key belongs to its path', async (t) => {
  const app = await testApp(t)
  const { post } = app
  await post('/v1/retain', { bank_id: 'bank', content: 'One.' }, KEY)
  t.equal((await post('/v1/retain/batch', { bank_id: 'bank', items: [{ content: 'One.' }] }, KEY)).statusCode, 200)
  t.equal((await post('/v1/forget', { bank_id: 'bank', tags: ['a'] }, KEY)).statusCode, 200)
  const lines = ndjson(HEADER, { text: 'Two.' })
  t.same((await importInto(app, 'bank', lines, KEY)).json(), { imported: 1, skipped: 0, overwritten: 0 })
  t.same((await importInto(app, 'other', lines, KEY)).json(), { imported: 1, skipped: 0, overwritten: 0 })
  const again = await importInto(app, 'bank', lines, KEY)
  t.same(again.json(), { imported: 1, skipped: 0, overwritten: 0 })
  t.equal(again.headers['idempotent-replayed'], 'true')
})

await t.test('an equivalent spelling of a path is the same path', async (t) => {
  const app = await testApp(t)
  const retain = async (url: string, content: string) => await app.post(url, { bank_id: 'bank', content }, KEY)
  const first = await retain('/v1/retain', 'One.')
  for (const url of ['/v1/retai%6e', '/v1/%72etain', '/v1/retain?']) {
    const again = await retain(url, 'One.')
    t.equal(again.headers['idempotent-replayed'], 'true', url)
    t.equal(again.body, first.body, url)
  }
  refused(t, await retain('/v1/retai%6e', 'Two.'), 409, 'idempotency_key_reused')
})

await t.test('the path of an import is the same however the bank is encoded', async (t) => {
  const app = await testApp(t)
  const lines = ndjson(HEADER, { text: 'Two.' })
  const first = await importInto(app, 'user:ada@home', lines, KEY)
  t.same(first.json(), { imported: 1, skipped: 0, overwritten: 0 })
  for (const bank of ['user%3Aada%40home', 'user%3aada@home', '%75ser:ada%40hom%65', 'user:ada@home?']) {
    const again = await importInto(app, bank, lines, KEY)
    t.equal(again.headers['idempotent-replayed'], 'true', bank)
    t.equal(again.body, first.body)
  }
  t.equal(
    (await importInto(app, 'user:ada', lines, KEY)).headers['idempotent-replayed'], undefined,
    'another bank is another path',
  )
})

await t.test('a key belongs to a bank: with another one it is another write', async (t) => {
  const { post, get } = await testApp(t)
  const retain = async (bank: string) => await post('/v1/retain', { bank_id: bank, content: 'One.' }, KEY)
  const answers = [await retain('one'), await retain('two')]
  for (const [index, bank] of ['one', 'two'].entries()) {
    t.equal(answers[index]!.statusCode, 200)
    t.equal(answers[index]!.headers['idempotent-replayed'], undefined)
    const again = await retain(bank)
    t.equal(again.body, answers[index]!.body)
    t.equal(again.headers['idempotent-replayed'], 'true')
  }
  t.same(
    (await get('/v1/banks')).json<{ banks: Array<{ bank_id: string }> }>().banks.map(({ bank_id: bank }) => bank),
    ['one', 'two'],
  )
})

await t.test('the query of an import is compared too', async (t) => {
  const app = await testApp(t)
  const lines = ndjson(HEADER, { text: 'Two.' })
  await importInto(app, 'bank', lines, KEY)
  refused(t, await importInto(app, 'bank?on_conflict=overwrite', lines, KEY), 409, 'idempotency_key_reused')
  refused(t, await importInto(app, 'bank?config=apply', lines, KEY), 409, 'idempotency_key_reused')
})

await t.test('a parameter of an import with its default value is as one that is absent', async (t) => {
  const defaults = ['', '?on_conflict=skip', '?config=ignore', '?config=ignore&on_conflict=skip']
  const lines = ndjson(HEADER, { text: 'Two.' })
  for (const first of defaults) {
    const app = await testApp(t)
    t.equal((await importInto(app, `bank${first}`, lines, KEY)).statusCode, 200)
    for (const again of defaults) {
      const replayed = await importInto(app, `bank${again}`, lines, KEY)
      t.match(replayed.json(), { imported: 1, skipped: 0 }, `${first} then ${again}`)
      t.equal(replayed.headers['idempotent-replayed'], 'true')
    }
  }
})

await t.test('recall, reflect and reads accept no key and are not replayed', async (t) => {
  const { post, get, retain } = await testApp(t)
  await retain('bank', 'One harbour.')
  for (const path of ['/v1/recall', '/v1/reflect']) {
    await post(path, { bank_id: 'bank', query: 'harbour' }, KEY)
    const other = await post(path, { bank_id: 'bank', query: 'nothing' }, KEY)
    t.match(
      { status: other.statusCode, replayed: other.headers['idempotent-replayed'] },
      { status: 200, replayed: undefined },
    )
  }
  t.equal((await get('/v1/banks', KEY)).headers['idempotent-replayed'], undefined)
})

await t.test('a caller without the permission is denied, whatever key comes with the request', async (t) => {
  const { post } = await testApp(t, {
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [{ bank_id: 'bank', principal: 'user:ada', permissions: ['write'] }],
    },
  })
  const retain = async (principal: string) => (
    await post('/v1/retain', { bank_id: 'bank', content: 'One.' }, { ...KEY, ...as(principal) })
  )
  t.equal((await retain('user:ada')).statusCode, 200)
  refused(t, await retain('user:bob'), 403, 'access_denied')
})
