import { once } from 'node:events'
import { connect } from 'node:net'
import { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import memoryGateway, { loadConfig, ServiceError, type MemoryGatewayOptions } from '../index.js'
import type { FileConfig } from '../lib/config/schema.js'
import { host, options, post, SERVER } from './helpers/host.js'
import { refused, refusedFields } from './routes/support.js'

await t.test('closing the app lets requests finish, and then closes the store', async (t) => {
  const { app } = await host(t)
  let release = () => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const events: string[] = []
  await app.register(memoryGateway, options({
    overrides: { clock: () => Date.UTC(2026, 0, 1) },
    authenticate: async () => {
      events.push('asked')
      await released
      return { principal: 'user:ada' }
    },
  }))
  // The gateway has been told of the close when this hook runs.
  await app.register(async (after) => { after.addHook('preClose', async () => { release() }) })
  const close = app.memory.close.bind(app.memory)
  app.memory.close = async () => { events.push('closed'); await close() }
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (data: Buffer) => { received += data.toString() })
  socket.write('GET /memory/v1/whoami HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise<void>((resolve) => {
    const look = () => { if (events.includes('asked')) resolve(); else setImmediate(look) }
    look()
  })
  const ended = once(socket, 'close')
  await app.close()
  await ended
  t.match(received, /^HTTP\/1\.1 200 /)
  t.match(received, /connection: close/i)
  t.match(received, '"principal":"user:ada"')
  t.same(events, ['asked', 'closed'])
})

await t.test('the app names the callers', async (t) => {
  const { app, log } = await host(t)
  const config = loadConfig({}, { file: { access_control: { enabled: true, default_policy: 'owner_only' } } })
  await app.register(memoryGateway, options({
    config,
    authenticate: ({ headers: { cookie } }) => {
      if (cookie === 'banned') throw new ServiceError('access_denied', 'You are banned')
      if (cookie === 'unknown') return null
      if (cookie === 'odd') return { principal: 'with spaces' }
      return cookie === undefined ? undefined : { principal: `user:${cookie}`, tenantId: 'acme' }
    },
  }))
  const whoami = async (cookie?: string, headers = {}) => (
    await app.inject({ url: '/memory/v1/whoami', headers: { ...(cookie !== undefined && { cookie }), ...headers } })
  )
  t.match((await whoami('ada')).json(), { principal: 'user:ada', tenant_id: 'acme' })
  refused(t, await whoami(), 401, 'unauthenticated')
  refused(t, await whoami('unknown'), 401, 'unauthenticated')
  refused(t, await whoami(undefined, { 'x-service-principal': 'user:ada' }), 401, 'unauthenticated')
  t.match((await whoami('ada', { 'x-service-principal': 'user:eve' })).json(), { principal: 'user:ada' })
  refused(t, await whoami('ada', { 'x-service-on-behalf-of': 'user:eve' }), 400, 'invalid_request')
  refused(t, await whoami('banned'), 403, 'access_denied')
  refused(t, await whoami('odd'), 500, 'internal_error')
  t.ok(log.some((line) => /authenticate returned a principal/.test(JSON.stringify(line))), 'the log tells why')
  const body = (bank: string) => ({ bank_id: bank, content: 'x' })
  t.equal((await post(app, '/memory/v1/retain', body('user-ada'), { cookie: 'ada' })).statusCode, 200)
  refused(t, await post(app, '/memory/v1/retain', body('user-eve'), { cookie: 'ada' }), 403, 'access_denied')
  t.equal(
    (await app.inject({ url: '/memory/v1/whoami', headers: { cookie: 'ada', host: 'app.example' } })).statusCode, 200,
  )
})

await t.test('an operator names the principal to be checked, because no caller is anonymous', async (t) => {
  const { app } = await host(t)
  const config = loadConfig({ SERVICE_ADMIN_TOKEN: 'operator' }, { file: { access_control: { enabled: true } } })
  await app.register(memoryGateway, options({ config, authenticate: () => undefined }))
  const check = async (named: object) => await post(app, '/memory/v1/admin/access/check', {
    bank_id: 'user-ada', permission: 'read', ...named,
  }, { 'x-admin-token': 'operator' })
  refusedFields(t, await check({}), 'principal')
  t.match((await check({ principal: 'user:ada' })).json(), { allowed: true })
})

await t.test('a tenant of the app is held to the rules of the tenants in tokens', async (t) => {
  const { app, log } = await host(t)
  let tenantId: unknown
  await app.register(memoryGateway, options({
    authenticate: () => ({ principal: 'user:ada', tenantId: tenantId as string }),
  }))
  for (const valid of ['acme', 'ACME Inc. é', 'x'.repeat(256)]) {
    tenantId = valid
    t.match((await app.inject('/memory/v1/whoami')).json(), { tenant_id: valid })
  }
  for (const invalid of ['', ' ', 'a\0b', 'a\nb', '\ud800', 'x'.repeat(257), 7]) {
    tenantId = invalid
    const response = await app.inject('/memory/v1/whoami')
    refused(t, response, 500, 'internal_error')
    t.notMatch(response.body, 'tenantId', 'the caller is told nothing of the fault of the app')
    t.match(JSON.stringify(log.pop()), /completed/)
    t.match(JSON.stringify(log.pop()), /authenticate returned a tenantId that is neither null nor 1 to 256 characters/)
  }
})

await t.test('dev mode serves only connections that come in on loopback', async (t) => {
  const { app } = await host(t)
  const config = loadConfig({ SERVICE_ALLOW_DEV_AUTH: '1' })
  let localAddress = '10.0.0.7'
  app.addHook(
    'onRequest',
    async ({ raw: { socket } }) => {
      Object.defineProperty(socket, 'localAddress', {
        value: localAddress, configurable: true,
      })
    },
  )
  await app.register(memoryGateway, options())
  await app.register(memoryGateway, options({ prefix: '/allowed', decorator: false, config }))
  const ask = async (prefix: string) => await app.inject({ url: `${prefix}/v1/whoami`, headers: { host: 'localhost' } })
  refused(t, await ask('/memory'), 403, 'host_not_allowed')
  t.equal((await ask('/allowed')).statusCode, 200)
  localAddress = '::ffff:127.0.0.1'
  t.equal((await ask('/memory')).statusCode, 200)
})

await t.test('the gateway warns of settings that only the app can make', async (t) => {
  const warned = async (server: FastifyServerOptions) => {
    const { app, log } = await host(t, server)
    await app.register(memoryGateway, options())
    await app.ready()
    return log.filter(({ level, msg }) => level === 40 && /of the app/.test(String(msg))).map(({ msg }) => (
      String(msg).split(' ')[0]
    ))
  }
  t.same(await warned({}), ['routerOptions.maxParamLength', 'requestTimeout'])
  t.same(await warned(SERVER), [])
})

await t.test('warnings about the callers of an auth mode do not apply to those of the app', async (t) => {
  const file: FileConfig = {
    access_control: { enabled: true },
    sources: { crm: { type: 'webhook', target_bank: 'notes', tenant_id: 'acme', auth: { type: 'none' } } },
  }
  const warned = async (more: Partial<MemoryGatewayOptions>) => {
    const { app, log } = await host(t)
    await app.register(memoryGateway, options({ config: loadConfig({}, { file }), ...more }))
    return log.filter(({ level }) => level === 40).map(({ msg }) => String(msg).split(':')[0])
  }
  const others = ['SERVICE_ADMIN_TOKEN is not set']
  t.same(await warned({ authenticate: () => undefined }), others)
  t.same((await warned({})).sort(), [...others, 'access_control.enabled', 'sources.crm.tenant_id'].sort())
})

await t.test('a bank id of any length is accepted if the app allows it', async (t) => {
  const { app } = await host(t)
  await app.register(memoryGateway, options())
  t.equal((await app.inject(`/memory/v1/banks/${'%61'.repeat(255)}`)).statusCode, 200)
})

await t.test('the gateway logs its requests if the app enables it', async (t) => {
  const { app, log } = await host(t, { ...SERVER, logController: new LogController({ disableRequestLogging: true }) })
  await app.register(memoryGateway, options({ accessLog: true }))
  await app.inject({
    url: '/memory/v1/whoami', headers: { 'x-request-id': 'given', 'x-service-principal': 'user:ada' },
  })
  t.match(
    log.filter(({ msg }) => msg === 'request completed'),
    [{ gateway: '/memory', request_id: 'given', route: '/memory/v1/whoami', principal_type: 'user' }],
  )
})

await t.test('options that cannot work, or would be ignored, end the start', async (t) => {
  const cases: Array<[RegExp, Partial<MemoryGatewayOptions>, ((app: FastifyInstance) => void)?]> = [
    [/prefix must be a path/, { prefix: '' }],
    [/prefix must be a path/, { prefix: '/' }],
    [/prefix must be a path/, { prefix: '/memory/' }],
    [/decorator "memory" already/, {}, (app) => { app.decorate('memory', {} as never) }],
    [
      /authenticate takes the place of SERVICE_AUTH_MODE/,
      { authenticate: () => undefined, config: loadConfig({ SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'key' }) },
    ],
    [/register @fastify\/cors in the app/, { config: loadConfig({ SERVICES_CORS_ORIGINS: 'https://app.example' }) }],
  ]
  for (const [message, more, prepare = () => {}] of cases) {
    const { app } = await host(t)
    prepare(app)
    await t.rejects(async () => { await app.register(memoryGateway, options(more)) }, { message })
  }
})
