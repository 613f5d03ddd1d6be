import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { rs256, rsaKey } from '../helpers/tokens.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { putConfig } from './bank-configs.js'
import { as } from './support.js'

interface Page {
  banks: Array<{ bank_id: string }>
  next_cursor: string | null
}

type Headers = Record<string, string>

/** `admin` may do everything; `user:ada` may read what its name says. */
const FILE: FileConfig = {
  access_control: { enabled: true, default_policy: 'deny' },
  access_grants: [
    { bank_id: '*', principal: 'user:admin', permissions: ['*'] },
    { bank_id: 'file-*', principal: 'user:ada', permissions: ['read'] },
  ],
}

const ADMIN = as('user:admin')
const ADA = as('user:ada')
const readers = (...principals: string[]) => ({
  access: principals.map((principal) => ({ principal, permissions: ['read'] })),
})

/** A gateway whose store tells which configurations were read. */
async function counting (t: Test): Promise<TestApp & { read: string[] }> {
  const store = new InMemoryVectorStore()
  const configs = store.bankConfigs
  const read: string[] = []
  const original = configs.read.bind(configs)
  configs.read = async (banks) => {
    read.push(...banks.map(({ bankId }) => bankId))
    return await original(banks)
  }
  return { ...await testApp(t, { file: FILE }, { store }), read }
}

/** All banks that a caller sees, page by page. */
async function pages ({ get }: TestApp, limit: number, headers: Headers): Promise<string[][]> {
  const found: string[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page = (await get(
      `/v1/banks?limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`, headers,
    )).json()
    found.push(page.banks.map(({ bank_id: bankId }) => bankId))
    cursor = page.next_cursor
  }
  return found
}

const named = (kind: string, count: number) => Array.from({ length: count }, (_, index) => (
  `${kind}-${String(index).padStart(3, '0')}`
))

await t.test('a bank that the file grants is listed without a read of its configuration', async (t) => {
  const app = await counting(t)
  const banks = named('file', 60)
  for (const bank of banks) await app.retain(bank, 'x', {}, ADMIN)
  for (const bank of banks) await putConfig(app, bank, { mission: 'Help.' }, ADMIN)
  app.read.length = 0
  t.same(await pages(app, 200, ADA), [banks])
  t.same(app.read, [])
})

await t.test('a bank that only its own configuration grants is listed as long as it grants it', async (t) => {
  const app = await counting(t)
  for (const bank of ['own', 'other', 'writable']) await app.retain(bank, 'x', {}, ADMIN)
  t.same(await pages(app, 50, ADA), [[]])
  await putConfig(app, 'own', readers('user:ada'), ADMIN)
  await putConfig(app, 'other', readers('user:bob'), ADMIN)
  await putConfig(
    app, 'writable', { access: [{ principal: 'user:ada', permissions: ['write', 'forget', 'admin'] }] }, ADMIN,
  )
  t.same(await pages(app, 50, ADA), [['own']])
  await putConfig(app, 'own', {}, ADMIN)
  t.same(await pages(app, 50, ADA), [[]])
})

await t.test('pages contain every bank once where both kinds of grants and refused banks are mixed', async (t) => {
  const app = await counting(t)
  const [ofFile, ofBank, closed] = [named('file', 40), named('bank', 70), named('shut', 45)]
  // Names that alternate: bank-000, bank-000-shut and so on.
  const shut = [...closed, ...ofBank.map((bank) => `${bank}-shut`)]
  for (const bank of [...ofFile, ...ofBank, ...shut]) await app.retain(bank, 'x', {}, ADMIN)
  for (const bank of ofBank) await putConfig(app, bank, readers('user:ada'), ADMIN)
  for (const bank of shut) await putConfig(app, bank, readers('user:bob'), ADMIN)
  const expected = [...ofBank, ...ofFile]
  app.read.length = 0
  for (const limit of [1, 7, 24, 25, 26, 50, 109, 110, 111]) {
    const found = await pages(app, limit, ADA)
    t.same(found.flat(), expected, `all of them, ${limit} at a time`)
    t.same(found.slice(0, -1).every((page) => page.length === limit), true)
    t.equal(found.length, Math.ceil(expected.length / limit), 'no page is empty')
  }
  t.notOk(app.read.some((bank) => bank.startsWith('file-')), 'a bank that the file grants is not looked up')
})

await t.test('a caller whom the policy refuses everything gets an empty list without a cursor', async (t) => {
  const app = await counting(t)
  for (const bank of named('shut', 80)) await app.retain(bank, 'x', {}, ADMIN)
  t.same((await app.get('/v1/banks?limit=10', ADA)).json(), { banks: [], next_cursor: null })
})

await t.test('on behalf of another principal the list has the banks that both may read, by any grants', async (t) => {
  const key = rsaKey('one')
  const provider = await startJwksServer(key)
  t.teardown(async () => { await provider.close() })
  const app = await testApp(t, {
    auth: { mode: 'jwt_oidc', oidcJwksUrl: provider.url, oidcIssuer: 'https://id.test', oidcAudience: 'memory' },
    file: {
      ...FILE,
      identity: { obo_enabled: true },
      access_grants: [
        ...FILE.access_grants!, { bank_id: 'agent-*', principal: 'agent:helper', permissions: ['read'] },
        { bank_id: 'file-*', principal: 'agent:helper', permissions: ['read'] },
      ],
    },
  })
  const bearer = (
    claims: Headers | { sub: string, act: { sub: string } },
  ) => ({
    authorization: `Bearer ${rs256({ iss: 'https://id.test', aud: 'memory', exp: 4_000_000_000, ...claims }, key)}`,
  })
  const admin = bearer({ sub: 'admin' })
  const both = bearer({ sub: 'ada', act: { sub: 'agent:helper' } })
  const rows: Array<[bank: string, grants: string[], listed: boolean]> = [
    ['agent-alone', [], false],
    ['agent-and-ada', ['user:ada'], true],
    ['bank-ada', ['user:ada'], false],
    ['bank-both', ['user:ada', 'agent:helper'], true],
    ['bank-helper', ['agent:helper'], false],
    ['file-both', [], true],
    ['file-both-bob', ['user:bob'], true],
    ['nobody', [], false],
  ]
  for (const [bank, grants] of rows) {
    await app.retain(bank, 'x', {}, admin)
    await putConfig(app, bank, readers(...grants), admin)
  }
  const listed = rows.filter(([, , isListed]) => isListed).map(([bank]) => bank)
  for (const limit of [1, 3, 50]) t.same((await pages(app, limit, both)).flat(), listed)
  t.same((await pages(app, 50, bearer({ sub: 'ada' }))).flat(), [
    'agent-and-ada', 'bank-ada', 'bank-both', 'file-both', 'file-both-bob',
  ])
})
