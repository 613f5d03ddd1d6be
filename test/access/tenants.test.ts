import t from 'tap'
import { tenants } from './tenants.js'

const BANK = 'team'

t.test('the same text in the same bank of two tenants is two memories', async (t) => {
  const { of } = await tenants(t)
  const everyone = [of('acme'), of('globex'), of(undefined)]
  const first = await Promise.all(everyone.map((member) => member.retain(
    BANK, 'The otter sleeps.', { document_id: 'd' },
  )))
  t.same(first.map(({ stored }) => stored), [true, true, true])
  t.equal(new Set(first.map(({ memory_id: id }) => id)).size, 3)
  const second = await Promise.all(everyone.map((member) => member.retain(
    BANK, ' The  otter sleeps. ', { document_id: 'd' },
  )))
  t.same(second.map(({ stored }) => stored), [false, false, false])
  t.same(
    second.map(({ memory_id: id }) => id), first.map(({ memory_id: id }) => id),
    'a repeat is found in its own tenant only',
  )
})

t.test('no read operation returns another tenant\'s memories', async (t) => {
  const { of } = await tenants(t)
  const acme = of('acme')
  const { memory_id: id } = await acme.retain(BANK, 'The otter sleeps on the river.', {
    tags: ['otter'], document_id: 'otter',
  })
  await acme.retain('only-acme', 'An otter.')
  await acme.post(`banks/${BANK}/conversations/otter/messages`, { messages: [{ role: 'user', content: 'An otter.' }] })
  for (const otherCaller of [of('globex'), of(undefined), of('ACME'), of('acm'), of('acme '), of('null')]) {
    for (const own of [false, true]) {
      if (own) await otherCaller.retain(BANK, 'Nothing of that kind.')
      const read = await Promise.all([
        otherCaller.post('recall', { bank_id: BANK, query: 'otter river' }),
        otherCaller.post('recall', { banks: [BANK, 'only-acme'], query: 'otter', explain: true }),
        otherCaller.post('reflect', { bank_id: BANK, query: 'Where does the otter sleep?' }),
        otherCaller.get('banks'),
        otherCaller.get(`banks/${BANK}`),
        otherCaller.get(`banks/${BANK}/stats`),
        otherCaller.get(`banks/${BANK}/memories`),
        otherCaller.get(`banks/${BANK}/memories?tags=otter`),
        otherCaller.get(`banks/${BANK}/memories/${id}`),
        otherCaller.get(`banks/${BANK}/export`),
        otherCaller.post('forget', { bank_id: BANK, memory_ids: [id], dry_run: true }),
        otherCaller.post('forget', { bank_id: BANK, tags: ['otter'], dry_run: true }),
        otherCaller.get(`banks/${BANK}/memories?document_id=otter&total=true`),
        otherCaller.get(`banks/${BANK}/memories/${id}/neighbours`),
        otherCaller.get(`banks/${BANK}/growth`),
        otherCaller.get('access'),
        otherCaller.get(`banks/${BANK}/conversations`),
        otherCaller.get(`banks/${BANK}/conversations/otter/messages`),
      ])
      t.notMatch(read.map(({ body }) => body).join('\n'), /otter|only-acme/, 'nothing shows')
      t.equal(read[8]!.statusCode, 404)
      t.same(read[0]!.json().total_available, 0)
      t.same(read[4]!.json().memory_count, own ? 1 : 0)
      t.match(read[9]!.body.split('\n')[0], `"memory_count":${own ? 1 : 0}`)
      t.same(read[12]!.json().total, { count: 0, complete: true })
      t.equal(read[13]!.statusCode, 404)
      t.equal(read[14]!.json().days.at(-1).memory_count, own ? 1 : 0)
      t.same([read[10]!.json().deleted_count, read[11]!.json().deleted_count], [0, 0])
    }
  }
  t.same(await acme.recall(BANK, 'otter river'), ['The otter sleeps on the river.', 'An otter.'])
})

t.test('a forget deletes nothing of another tenant', async (t) => {
  const { of } = await tenants(t)
  const [acme, globex] = [of('acme'), of('globex')]
  const { memory_id: id } = await acme.retain(BANK, 'The otter sleeps.', { tags: ['otter'] })
  await globex.retain(BANK, 'The otter eats.', { tags: ['otter'] })
  t.equal((await globex.post('forget', { bank_id: BANK, memory_ids: [id] })).json().deleted_count, 0)
  t.equal((await globex.post('forget', { bank_id: BANK, tags: ['otter'] })).json().deleted_count, 1)
  t.equal((await globex.post('forget', { bank_id: BANK, scope: 'all' })).json().deleted_count, 0)
  t.same(await acme.recall(BANK, 'otter'), ['The otter sleeps.'])
})

t.test('the memories of one tenant do not change another\'s scores', async (t) => {
  const { of } = await tenants(t)
  const [acme, globex] = [of('acme'), of('globex')]
  await acme.retain(BANK, 'The otter sleeps on the river.')
  await acme.retain(BANK, 'A heron waits by the river.')
  const ask = async () => (
    (await acme.post('recall', { bank_id: BANK, query: 'otter on the river', explain: true })).json().hits
  )
  const before = await ask()
  for (let index = 0; index < 20; index++) await globex.retain(BANK, `Otter number ${index} of the river.`)
  t.same(await ask(), before)
})

t.test('limits and quotas are counted for each tenant', async (t) => {
  const { of } = await tenants(t, {
    homeostasis: {
      rate_limits: { retain_per_minute: 2, recall_per_minute: 1, forget_per_minute: 1, global_per_minute: 4 },
      quotas: { reflect_per_day: 1 },
    },
  })
  for (const member of [of('acme'), of('globex'), of(undefined)]) {
    const statuses = []
    for (const text of ['one', 'two', 'three']) {
      statuses.push((await member.post('retain', { bank_id: BANK, content: text })).statusCode)
    }
    for (let turn = 0; turn < 2; turn++) {
      statuses.push((await member.post('recall', { bank_id: BANK, query: 'one' })).statusCode)
    }
    t.same(statuses, [200, 200, 429, 200, 429])
    const reflected = [
      await member.post('reflect', { bank_id: BANK, query: 'one' }),
      await member.post('reflect', { bank_id: BANK, query: 'one' }),
    ]
    t.same(reflected.map(({ statusCode }) => statusCode), [200, 429])
  }
})

t.test('an idempotency key of one tenant has no effect in another', async (t) => {
  const { of } = await tenants(t)
  const headers = { 'idempotency-key': 'k' }
  const members = [of('acme'), of('globex'), of(undefined)]
  for (const [index, member] of members.entries()) {
    const response = await member.post('retain', { bank_id: BANK, content: `Text ${index}` }, headers)
    t.equal(response.statusCode, 200)
    t.notOk(response.headers['idempotent-replayed'])
  }
  for (const [index, member] of members.entries()) {
    const replay = await member.post('retain', { bank_id: BANK, content: `Text ${index}` }, headers)
    t.equal(replay.headers['idempotent-replayed'], 'true')
    t.same(await member.recall(BANK, 'text'), [`Text ${index}`])
    t.equal(
      (await member.post('retain', { bank_id: BANK, content: 'Other' }, headers)).json().code, 'idempotency_key_reused',
    )
  }
})

t.test('an export can be imported completely into another tenant, and the first one keeps its memories', async (t) => {
  const { of } = await tenants(t)
  const [acme, globex] = [of('acme'), of('globex')]
  const { memory_id: id } = await acme.retain(BANK, 'The otter sleeps.')
  const lines = (await acme.get(`banks/${BANK}/export`)).body
  t.same((await globex.post(`banks/${BANK}/import`, lines)).json(), { imported: 1, skipped: 0, overwritten: 0 })
  t.same(
    (await globex.post(`banks/${BANK}/import?on_conflict=overwrite`, lines.replace('sleeps', 'wakes'))).json(),
    { imported: 0, skipped: 0, overwritten: 1 },
  )
  t.equal((await acme.get(`banks/${BANK}/memories/${id}`)).json().text, 'The otter sleeps.')
  t.equal((await globex.get(`banks/${BANK}/memories/${id}`)).json().text, 'The otter wakes.')
})

t.test('a cursor of one tenant pages through no other tenant\'s memories, and lists no banks', async (t) => {
  const { of } = await tenants(t)
  const [acme, globex] = [of('acme'), of('globex')]
  for (const name of ['a', 'b', 'c']) {
    await acme.retain(name, 'acme')
    await acme.retain(BANK, `acme ${name}`)
    await globex.retain(`${name}-globex`, 'globex')
    await globex.retain(BANK, `globex ${name}`)
  }
  const cursorOf = async (path: string) => (
    (await acme.get(`${path}?limit=1`)).json<{ next_cursor: string }>().next_cursor
  )
  const memories = `banks/${BANK}/memories`
  const page = (await globex.get(`${memories}?limit=2&cursor=${await cursorOf(memories)}`)).body
  t.match(page, /globex/)
  t.notMatch(page, /acme/)
  // A cursor of banks holds the name of one, so it is of one tenant.
  const refused = await globex.get(`banks?limit=2&cursor=${encodeURIComponent(await cursorOf('banks'))}`)
  t.equal(refused.statusCode, 400)
  t.notMatch(refused.body, /acme|"bank_id"/)
})

t.test('tenants with similar or special names are separate', async (t) => {
  const { of, app } = await tenants(t)
  const names = [
    undefined, 'null', 'undefined', '""', '"acme"', 'acme', 'ACME', 'acme team', 'acme\\u0000team', 'acme","team', '[]',
    '7', '0', '-1', 'acme\u00a0', 'e\u0301', '\u00e9', '__proto__', 'constructor', '\ud83e\udda6',
  ]
  for (const name of names) await of(name).retain(BANK, `Text of ${JSON.stringify(name)}`)
  for (const name of names) t.same(await of(name).recall(BANK, 'text'), [`Text of ${JSON.stringify(name)}`])
  const { banks } = (await app.get('/v1/admin/banks')).json<{ banks: Array<{ tenant_id: string | null }> }>()
  t.same(new Set(banks.map(({ tenant_id: id }) => id)), new Set(names.map((name) => name ?? null)))
  t.same(await of(7).recall(BANK, 'text'), ['Text of "7"'], 'a number is its digits')
  t.same(await of('  ').recall(BANK, 'text'), ['Text of undefined'], 'a blank one counts as absent')
})

t.test('operators see the banks of all tenants, or of one tenant', async (t) => {
  const { of, app } = await tenants(t)
  await of('acme').retain(BANK, 'one')
  await of('acme').retain(BANK, 'two')
  await of('acme').retain('archive', 'one')
  await of('globex').retain(BANK, 'one')
  await of(undefined).retain(BANK, 'one')
  const ask = async (path: string) => (
    (await app.get(`/v1/admin/banks${path}`)).json<{
      banks?: Array<{ tenant_id: string | null, bank_id: string, memory_count: number }>, code?: string
    }>()
  )
  const rows = ({ banks = [] }: Awaited<ReturnType<typeof ask>>) => banks.map((bank) => (
    `${bank.tenant_id}/${bank.bank_id}/${bank.memory_count}`
  ))
  t.same(rows(await ask('')), ['null/team/1', 'acme/archive/1', 'acme/team/2', 'globex/team/1'])
  t.same(rows(await ask('?tenant_id=acme')), ['acme/archive/1', 'acme/team/2'])
  t.same(rows(await ask('?tenant_id=nobody')), [])
  t.same(rows(await ask('/team')), ['null/team/1', 'acme/team/2', 'globex/team/1'])
  t.same(rows(await ask('/team?tenant_id=globex')), ['globex/team/1'])
  t.equal((await ask('/archive?tenant_id=globex')).code, 'not_found')
  t.equal((await ask('/nowhere')).code, 'not_found')
})

t.test('a denied call uses up no quota of the bank', async (t) => {
  const { of } = await tenants(t, {
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: BANK, principal: 'user:bob', permissions: ['write', 'read'] }],
    homeostasis: { quotas: { retain_per_day: 1, reflect_per_day: 1 } },
  })
  const otherCaller = of('acme', { sub: 'eve' })
  for (let turn = 0; turn < 3; turn++) {
    t.equal((await otherCaller.post('retain', { bank_id: BANK, content: 'x' })).statusCode, 403)
    t.equal((await otherCaller.post('reflect', { bank_id: BANK, query: 'x' })).statusCode, 403)
  }
  t.equal((await of('acme').post('retain', { bank_id: BANK, content: 'x' })).statusCode, 200)
  t.equal((await of('acme').post('reflect', { bank_id: BANK, query: 'x' })).statusCode, 200)
  t.equal((await of('acme').post('retain', { bank_id: BANK, content: 'y' })).statusCode, 429, 'the quota is available')
})
