import t from 'tap'
import type { FastifyInstance, InjectOptions, RouteOptions } from 'fastify'
import { buildApp } from '../../app.js'
import { setRouteScope, type RouteScope } from '../../plugins/route-scopes.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { refused } from '../routes/support.js'
import { signedSource } from '../routes/webhooks.js'

const { app, inject } = await testApp(t, {
  auth: { mode: 'api_key', apiKey: 'key' },
  adminToken: 'admin',
  file: { sources: { known: signedSource() } },
})

type Method = NonNullable<InjectOptions['method']>

/** Each method and URL of a scope, with something in place of the parameters. */
function routesOf (
  scope: RouteScope, among: readonly RouteOptions[] = app.routeTable,
): Array<{ method: Method, url: string }> {
  return among.filter((route) => route.config?.scope === scope).flatMap(({ method, url }) =>
    ([method].flat() as Method[]).map(
      (name) => ({ method: name, url: url.replace(':source_id', 'known').replaceAll(/:\w+/g, 'x') }),
    ))
}

const own = app.routeTable.filter((route) => route.schema?.hide !== true)

await t.test('every route declares its scope', async (t) => {
  for (const { method, url, config } of app.routeTable) {
    t.match(config?.scope, /^(memory|admin|source|public)$/, `${String(method)} ${url}`)
  }
})

await t.test('every route below /v1 is guarded', async (t) => {
  const open = app.routeTable.filter(({ url, config, schema }) => (
    url.startsWith('/v1') && config?.scope === 'public' && schema?.hide !== true
  ))
  t.same(open.map(({ url }) => url), [])
  t.same(
    new Set(own.filter(({ url }) => url.startsWith('/v1/admin')).map(({ config }) => config?.scope)),
    new Set(['admin']),
  )
})

await t.test('a route of the memory scope requires the credentials of the auth mode', async (t) => {
  const routes = routesOf('memory')
  t.ok(routes.length >= 18)
  for (const { method, url } of routes) {
    for (const headers of [
      {}, { 'x-admin-token': 'admin' }, { 'x-service-principal': 'user:ada' },
      { 'x-api-key': 'wrong', 'x-service-principal': 'user:ada' },
    ]) {
      const response = await inject({ method, url, headers })
      if (method === 'HEAD') t.equal(response.statusCode, 401, `${method} ${url}`)
      else refused(t, response, 401, 'unauthenticated', { detail: 'Invalid or missing API key' })
    }
  }
})

await t.test('a route of the admin scope requires the admin token', async (t) => {
  const routes = routesOf('admin')
  t.ok(routes.length >= 6)
  for (const { method, url } of routes) {
    for (const headers of [
      {}, { 'x-admin-token': 'wrong' }, { 'x-api-key': 'key', 'x-service-principal': 'user:ada' },
    ]) {
      const response = await inject({ method, url, headers })
      if (method === 'HEAD') t.equal(response.statusCode, 401, `${method} ${url}`)
      else refused(t, response, 401, 'unauthenticated', { detail: 'Invalid or missing X-Admin-Token' })
    }
  }
})

await t.test('a route of the source scope requires the signature of a source that exists', async (t) => {
  const routes = routesOf('source')
  t.same(routes, [{ method: 'POST', url: '/v1/ingest/webhook/known' }])
  const headers = {
    'content-type': 'application/json', 'x-api-key': 'key', 'x-service-principal': 'user:ada', 'x-admin-token': 'admin',
  }
  for (const { method, url } of routes) {
    refused(t, await inject({ method, url, headers, payload: '{}' }), 401, 'unauthenticated', {
      detail: 'Invalid or missing signature',
    })
    refused(t, await inject({ method, url: url.replace('known', 'unknown'), headers, payload: '{}' }), 404, 'not_found')
  }
})

await t.test('a public route requires nothing', async (t) => {
  const routes = routesOf('public', own)
  t.same(new Set(routes.map(({ url }) => url)), new Set(['/live', '/health/live', '/health']))
  for (const { method, url } of [
    ...routes, { method: 'GET', url: '/openapi.json' } as const, { method: 'GET', url: '/docs/' } as const,
  ]) {
    t.equal((await inject({ method, url })).statusCode, 200, `${method} ${url}`)
  }
})

await t.test('credentials are checked before the body and its type', async (t) => {
  const bodies = [
    { headers: { 'content-type': 'application/json' }, payload: '{not json' },
    { headers: { 'content-type': 'nonsense' }, payload: 'x' },
    { headers: { 'content-type': 'application/json' }, payload: '"'.padEnd(11 * 1024 * 1024) },
    { headers: { 'idempotency-key': 'k'.repeat(300) } },
  ]
  for (const { method, url } of routesOf('memory').filter((route) => route.method === 'POST')) {
    for (const body of bodies) refused(t, await inject({ method, url, ...body }), 401, 'unauthenticated')
  }
})

await t.test('credentials are checked before parameters', async (t) => {
  for (const url of ['/v1/banks?surprise=1', '/v1/banks/a*', '/v1/whoami?bank_id=*', '/v1/admin/banks?surprise=1']) {
    refused(t, await inject({ url }), 401, 'unauthenticated')
  }
})

type Mistake = (app: FastifyInstance) => unknown
const mistakes: Record<string, [mistake: Mistake, message: RegExp]> = {
  'without a scope': [(app) => app.get('/new', async () => 'x'), /GET \/new does not say its scope/],
  'that means to be in the memory scope and lies outside of it': [
    (app) => app.post('/new', { config: { scope: 'memory' } }, async () => 'x'),
    /POST \/new means to be in the scope memory and sits in public/,
  ],
  'that means to be in the admin scope and lies outside of it': [
    (app) => app.get('/new', { config: { scope: 'admin' } }, async () => 'x'), /scope admin and sits in public/,
  ],
  'that calls itself public within a guarded scope': [
    (app) => app.register(async (scope) => {
      setRouteScope(scope, 'admin')
      scope.get('/new', { config: { scope: 'public' } }, async () => 'x')
    }),
    /scope public and sits in admin/,
  ],
  'without a scope, deep in a scope': [
    (app) => app.register(async (scope) => {
      setRouteScope(scope, 'memory')
      await scope.register(async (inner) => { inner.get('/new', async () => 'x') })
    }),
    /GET \/new does not say its scope/,
  ],
}
for (const [what, [mistake, message]] of Object.entries(mistakes)) {
  await t.test(`a route ${what} keeps the app from starting`, async (t) => {
    const app = await buildApp(testConfig({ logLevel: 'silent' }))
    t.teardown(async () => { await app.close() })
    await mistake(app)
    await t.rejects(async () => { await app.ready() }, message)
  })
}

await t.test('a route in the scope that it declares lets the app start', async (t) => {
  const app = await buildApp(testConfig({ logLevel: 'silent' }))
  t.teardown(async () => { await app.close() })
  app.get('/new', { config: { scope: 'public' } }, async () => 'x')
  await app.ready()
  t.equal((await app.inject('/new')).body, 'x')
})
