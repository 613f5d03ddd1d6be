import t from 'tap'
import { sendJson, openSource } from '../routes/webhooks.js'
import { tenants } from './tenants.js'

await t.test('memories of a source can be read only by its own tenant', async (t) => {
  const { app, of } = await tenants(t, {
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [
      { bank_id: 'inbox', principal: 'User:*', permissions: ['read'] },
      { bank_id: 'inbox', principal: 'service:*', permissions: ['write'] },
    ],
    sources: {
      acme: openSource({ tenant_id: 'acme' }), umbrella: openSource({ tenant_id: 'umbrella' }), none: openSource(),
    },
  })
  for (const id of ['acme', 'umbrella', 'none']) {
    t.equal((await sendJson(app, id, { content: `The parcel of ${id} has arrived.` })).statusCode, 200)
  }
  t.match(
    (await sendJson(app, 'acme', { content: 'The parcel of umbrella has arrived.' })).json(),
    { stored: true, deduplicated: false }, 'a memory of another tenant is not a repeat',
  )

  t.same((await of('acme').recall('inbox', 'parcel')).sort(), [
    'The parcel of acme has arrived.', 'The parcel of umbrella has arrived.',
  ])
  t.same(await of('umbrella').recall('inbox', 'parcel'), ['The parcel of umbrella has arrived.'])
  t.same(await of(undefined).recall('inbox', 'parcel'), ['The parcel of none has arrived.'])
  t.same(await of('other').recall('inbox', 'parcel'), [])

  const { sources } = (await app.get('/v1/admin/sources')).json<{ sources: Array<Record<string, unknown>> }>()
  for (const source of sources) {
    t.same(Object.keys(source).sort(), [
      'accepted', 'healthy', 'id', 'last_event_at', 'message', 'rejected', 'target_bank', 'type',
    ])
  }
  t.match((await app.get('/v1/admin/banks/inbox')).json(), { banks: { length: 3 } })
})
