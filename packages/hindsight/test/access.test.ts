import { HindsightError, type HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { startJwksServer } from '../../../test/helpers/jwks-server.js'
import { rejection } from '../../../test/helpers/rejection.js'
import { hs256, NOW, rs256, rsaKey, secondsFromNow } from '../../../test/helpers/tokens.js'
import { gateway } from './gateway.js'

const KEY = 'correct horse battery staple'
const SECRET = 'a secret of more than thirty-two bytes'
const OWNERS: FileConfig = { access_control: { enabled: true } }

/** What the client does on a bank, by the permission that it needs. */
const CALLS: Record<string, Array<[string, (client: HindsightClient, bank: string) => Promise<unknown>]>> = {
  read: [
    ['recall', (client, bank) => client.recall(bank, 'tea')],
    ['reflect', (client, bank) => client.reflect(bank, 'Which tea?')],
    ['listMemories', (client, bank) => client.listMemories(bank)],
    ['listDocuments', (client, bank) => client.listDocuments(bank)],
    ['getDocument', (client, bank) => client.getDocument(bank, 'diary')],
  ],
  write: [
    ['retain', (client, bank) => client.retain(bank, 'Bob drinks coffee.')],
    ['retainBatch', (client, bank) => client.retainBatch(bank, [{ content: 'Bob drinks cocoa.' }])],
  ],
  forget: [['deleteDocument', (client, bank) => client.deleteDocument(bank, 'diary')]],
  admin: [
    ['createBank', (client, bank) => client.createBank(bank)],
    ['setMission', (client, bank) => client.setMission(bank, 'Be brief.')],
    ['getBankProfile', (client, bank) => client.getBankProfile(bank)],
    ['getBankConfig', (client, bank) => client.getBankConfig(bank)],
    ['updateBankConfig', (client, bank) => client.updateBankConfig(bank, { reflectMission: 'Be brief.' })],
    ['resetBankConfig', (client, bank) => client.resetBankConfig(bank)],
    ['deleteBank', (client, bank) => client.deleteBank(bank)],
  ],
}

t.test('a caller without the permission is denied access, and changes and learns nothing', async (t) => {
  const { clientOf } = await gateway(t, { file: OWNERS })
  const alice = clientOf({ principal: 'user:alice' })
  const bob = clientOf({ principal: 'user:bob' })
  await alice.retain('alice', 'Alice drinks green tea.', { documentId: 'diary' })
  for (const [permission, calls] of Object.entries(CALLS)) {
    for (const [name, call] of calls) {
      const error = await rejection(Error, call(bob, 'alice'))
      t.match(error.message, `Principal 'user:bob' is denied '${permission}' on bank 'alice'`, name)
      if (error instanceof HindsightError) t.equal(error.statusCode, 403, name)
    }
  }
  t.match(await alice.listMemories('alice'), { total: 1, items: [{ text: 'Alice drinks green tea.' }] })
  t.match(await bob.recall('bob', 'tea'), { results: [] }, 'his own bank contains no memory of hers')
})

for (const [permission, calls] of Object.entries(CALLS)) {
  t.test(`${permission} suffices for operations that need it`, async (t) => {
    const { clientOf } = await gateway(t, {
      file: {
        access_control: { enabled: true, default_policy: 'deny' },
        access_grants: [
          { bank_id: 'team', principal: 'user:bob', permissions: [permission as 'read'] },
          { bank_id: 'team', principal: 'user:root', permissions: ['*'] },
        ],
      },
    })
    await clientOf({ principal: 'user:root' }).retain('team', 'The team drinks green tea.', { documentId: 'diary' })
    const bob = clientOf({ principal: 'user:bob' })
    for (const [name, call] of calls) await t.resolves(call(bob, 'team'), name)
    for (const other of Object.keys(CALLS).filter((other) => other !== permission)) {
      for (const [name, call] of CALLS[other]!) {
        t.match((await rejection(Error, call(bob, 'team'))).message, /is denied/, name)
      }
    }
  })
}

t.test('only a caller who may also forget can replace a document', async (t) => {
  const { clientOf } = await gateway(t, {
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [{ bank_id: 'team', principal: 'user:writer', permissions: ['write', 'read'] }],
    },
  })
  const writer = clientOf({ principal: 'user:writer' })
  t.match(await rejection(HindsightError, writer.retain('team', 'first', { documentId: 'diary' })), {
    statusCode: 403, details: "Principal 'user:writer' is denied 'forget' on bank 'team'",
  })
  await writer.retain('team', 'second', { documentId: 'diary', updateMode: 'append' })
  t.equal((await writer.getDocument('team', 'diary'))?.original_text, 'second')
})

t.test('api_key mode accepts the key as the client sends it', async (t) => {
  const { url, hindsight, clientOf, client } = await gateway(
    t, { auth: { mode: 'api_key', apiKey: KEY }, file: OWNERS }, {}, { apiKeyPrincipal: 'service:hindsight' },
  )
  const bare = clientOf({ apiKey: KEY })
  await bare.retain('service-hindsight', 'The service drinks green tea.')
  t.match(await bare.recall('service-hindsight', 'tea'), { results: [{ text: /green tea/ }] }, 'as service:hindsight')
  const alice = clientOf({ apiKey: KEY, principal: 'user:alice' })
  await alice.retain('alice', 'Alice drinks black tea.')
  t.match(await rejection(HindsightError, alice.recall('service-hindsight', 'tea')), { statusCode: 403 })
  for (const [what, wrong] of Object.entries({
    'no key': client, 'a wrong key': clientOf({ apiKey: `${KEY}!` }), 'a part of it': clientOf({ apiKey: 'correct' }),
  })) {
    t.match(await rejection(HindsightError, wrong.recall('alice', 'tea')), {
      statusCode: 401, details: 'Invalid or missing API key',
    }, what)
  }
  const path = '/v1/default/banks/alice/memories/list'
  const status = async (headers: Record<string, string>) => (
    (await hindsight.inject({ url: path, headers: { 'x-service-principal': 'user:alice', ...headers } })).statusCode
  )
  t.equal(await status({ 'x-api-key': KEY }), 200, 'the form that the gateway itself accepts')
  t.equal(await status({ authorization: `bearer ${KEY}` }), 200)
  t.equal(await status({ authorization: 'Basic YTpi' }), 401)
  t.equal((await fetch(`${url}/version`)).status, 200, 'the version is public')
})

t.test('a caller with only the key has the principal of the configuration', async (t) => {
  const { clientOf } = await gateway(t, {
    auth: { mode: 'api_key', apiKey: KEY }, file: OWNERS,
  }, {}, { apiKeyPrincipal: 'agent:legacy' })
  await t.resolves(clientOf({ apiKey: KEY }).retain('agent-legacy', 'It works.'))
  t.match(await rejection(HindsightError, clientOf({ apiKey: KEY }).retain('service-hindsight', 'It works.')), {
    details: "Principal 'agent:legacy' is denied 'write' on bank 'service-hindsight'",
  })
})

t.test('jwt_hs256 mode accepts a token in the place of the key', async (t) => {
  const { clientOf } = await gateway(
    t, { auth: { mode: 'jwt_hs256', jwtSecret: SECRET }, file: OWNERS }, { clock: () => NOW },
  )
  const alice = clientOf({ apiKey: hs256({ sub: 'user:alice', exp: secondsFromNow(60) }, SECRET) })
  await alice.retain('alice', 'Alice drinks green tea.')
  t.match(await alice.recall('alice', 'tea'), { results: [{ text: /green tea/ }] })
  t.match(await rejection(HindsightError, clientOf({ apiKey: 'none' }).recall('alice', 'tea')), {
    statusCode: 401, details: 'Invalid token',
  })
})

t.test('jwt_oidc mode separates tenants', async (t) => {
  const key = rsaKey('k1')
  const provider = await startJwksServer(key)
  t.teardown(async () => { await provider.close() })
  const { clientOf } = await gateway(t, {
    auth: { mode: 'jwt_oidc', oidcIssuer: 'https://issuer.test/', oidcAudience: 'gateway', oidcJwksUrl: provider.url },
  }, { clock: () => NOW })
  const of = (tid: string) => clientOf({
    apiKey: rs256({ sub: 'bob', tid, iss: 'https://issuer.test/', aud: 'gateway', exp: secondsFromNow(60) }, key),
  })
  const acme = of('acme')
  const other = of('other')
  await acme.createBank('shared', { reflectMission: 'Only of acme.' })
  await acme.retain('shared', 'Acme drinks green tea.', { documentId: 'diary' })
  t.match(await other.recall('shared', 'tea'), { results: [] })
  t.match(await other.listMemories('shared'), { total: 0, items: [] })
  t.match(await other.listDocuments('shared'), { total: 0, items: [] })
  t.equal(await other.getDocument('shared', 'diary'), null)
  t.match(await other.getBankProfile('shared'), { mission: '' })
  await t.rejects(other.deleteDocument('shared', 'diary'), /No such document/)
  await other.retain('shared', 'Other drinks coffee.', { documentId: 'diary' })
  await other.deleteBank('shared')
  t.match(await acme.recall('shared', 'tea'), { results: [{ text: 'Acme drinks green tea.' }] })
  t.match(await acme.getBankProfile('shared'), { mission: 'Only of acme.' })
})
