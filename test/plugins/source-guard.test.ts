import Fastify from 'fastify'
import t from 'tap'
import { settingsOf } from '../../lib/config/config.js'
import { WebhookSources } from '../../lib/operations/webhook-sources.js'
import bodies from '../../plugins/bodies.js'
import errors from '../../plugins/errors.js'
import exchanges from '../../plugins/active-requests.js'
import sourceGuard from '../../plugins/source-guard.js'
import { testApp } from '../helpers/app.js'
import { refused } from '../routes/support.js'
import { signatureOf, signedSource } from '../routes/webhooks.js'

const gateway = await testApp(t)
const app = Fastify()
t.teardown(async () => { await app.close() })
const entered: string[] = []
await app.register(errors)
app.decorate('bounds', gateway.app.bounds)
await app.register(exchanges)
await app.register(bodies)
await app.register(async (scope) => {
  await scope.register(sourceGuard, {
    sources: new WebhookSources(
      settingsOf({ sources: { known: signedSource() } }).sources, gateway.app.memory, gateway.clock, gateway.app.bounds,
    ),
  })
  await scope.register(async (inner) => {
    inner.post(
      '/deep/:source_id',
      async (request) => { entered.push(request.url); return { bytes: Buffer.isBuffer(request.body) } },
    )
    inner.get('/deep/:source_id', async (request) => { entered.push(request.url) })
    inner.post('/nameless', async (request) => { entered.push(request.url) })
  })
})
app.post('/outside', async ({ body }) => body)

const headers = { 'content-type': 'application/json' }

await t.test('the scope guards each route in it, whatever hooks the route has itself', async (t) => {
  const signed = await app.inject({
    method: 'POST', url: '/deep/known', payload: '{ }', headers: { ...headers, 'x-signature-256': signatureOf('{ }') },
  })
  t.same([signed.statusCode, signed.json()], [200, { bytes: true }])
  t.same(entered.splice(0), ['/deep/known'])

  refused(
    t, await app.inject({ method: 'POST', url: '/deep/known', payload: '{}', headers }), 401, 'unauthenticated',
    { detail: 'Invalid or missing signature' },
  )
  refused(t, await app.inject({ method: 'GET', url: '/deep/known' }), 401, 'unauthenticated')
  refused(t, await app.inject({ method: 'POST', url: '/deep/other', payload: '{not read', headers }), 404, 'not_found')
  t.same(entered, [])
})

await t.test('a route of the scope that names no source is closed', async (t) => {
  refused(t, await app.inject({ method: 'POST', url: '/nameless', payload: '{}', headers }), 404, 'not_found')
  t.same(entered, [])
})

await t.test('the guard ends where its scope ends', async (t) => {
  t.same((await app.inject({ method: 'POST', url: '/outside', payload: '{"a":1}', headers })).json(), { a: 1 })
})
