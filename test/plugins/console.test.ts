import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { testApp } from '../helpers/app.js'

const BUILT = join(process.cwd(), 'dist/console')
const ASSETS = readdirSync(join(BUILT, 'assets')).filter((name) => /\.(?:js|css|svg)$/.test(name))
const SCRIPT = ASSETS.find((name) => /^index-.*\.js$/.test(name))!
/** What the console may weigh, all its scripts together. */
const SCRIPT_BYTES = 120 * 1024
const PROVIDER = { issuer: 'https://login.example.com/realm', client_id: 'memory-console' }

/** The sources of a policy, by directive. */
function directives (policy: unknown): Map<string, string[]> {
  return new Map(String(policy).split('; ').map((directive) => {
    const [name = '', ...sources] = directive.split(' ')
    return [name, sources]
  }))
}

t.test('the page comes with a policy that allows nothing but the gateway itself', async (t) => {
  const { get } = await testApp(t)
  for (const url of ['/console/', '/console/banks', '/console/memories?bank=user-alice', '/console/callback?code=x']) {
    const page = await get(url)
    t.equal(page.statusCode, 200, url)
    t.match(page.headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    t.same(Object.fromEntries(directives(page.headers['content-security-policy'])), {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'"],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
      'require-trusted-types-for': ["'script'"],
      'trusted-types': ["'none'"],
    })
  }
})

t.test('the page has no script, style or address of another origin in it', async (t) => {
  const { body } = await (await testApp(t)).get('/console/')
  t.notMatch(body, /<script(?![^>]* src="\.\/)/)
  t.notMatch(body, /<style|\bstyle=|\bon[a-z]+=|https?:|data:|\/\//)
})

t.test('the scripts are smaller than their limit', async (t) => {
  const weights = ASSETS.filter((name) => name.endsWith('.js')).map((name) => {
    const compressed = readdirSync(join(BUILT, 'assets')).includes(`${name}.gz`) ? `${name}.gz` : name
    return readFileSync(join(BUILT, 'assets', compressed)).length
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  t.ok(total < SCRIPT_BYTES, `${total} bytes gzipped`)
})

t.test('every asset is cached forever, and is sent as it is or compressed by the build', async (t) => {
  const { get } = await testApp(t)
  for (const name of ASSETS) {
    const content = readFileSync(join(BUILT, 'assets', name))
    for (const [accepted, decoded] of [
      ['', undefined], ['gzip', gunzipSync], ['gzip, br', brotliDecompressSync],
    ] as const) {
      const response = await get(`/console/assets/${name}`, { 'accept-encoding': accepted })
      t.match(response.headers, { 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
      t.match(response.headers['content-type'], /^(?:text\/(?:javascript|css); charset=utf-8|image\/svg\+xml)$/)
      const { 'content-encoding': coding } = response.headers
      if (content.length > 1024 && decoded !== undefined) t.ok(coding, `${name} is compressed`)
      const body = coding === undefined || decoded === undefined ? response.rawPayload : decoded(response.rawPayload)
      t.ok(body.equals(content), `${name} ${accepted}`)
    }
  }
})

t.test('an asset that the browser already has is not sent again', async (t) => {
  const { get, inject } = await testApp(t)
  for (const url of ['/console/', `/console/assets/${SCRIPT}`, '/console/config.json']) {
    const { headers: { etag }, rawPayload } = await get(url)
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get(url, { 'if-none-match': String(sent) })
      t.equal(again.statusCode, 304, url)
      t.equal(again.body, '')
      t.equal(again.headers.etag, etag)
    }
    t.equal((await get(url, { 'if-none-match': '"other"' })).statusCode, 200)
    const head = await inject({ method: 'HEAD', url })
    t.match(head, { statusCode: 200, body: '' })
    t.equal(head.headers['content-length'], String(rawPayload.length))
  }
  const [plain, compressed] = [await get('/console/'), await get('/console/', { 'accept-encoding': 'br' })]
  t.not(plain.headers.etag, compressed.headers.etag, 'each form of the page has its own tag')
})

t.test('the address without a slash redirects to the one with it, also below the path of a proxy', async (t) => {
  const response = await (await testApp(t)).get('/console')
  t.equal(response.statusCode, 308)
  t.equal(response.headers.location, 'console/')
})

t.test('only the files of the build are served', async (t) => {
  const { get, inject } = await testApp(t)
  const absent = [
    '/console/assets/none.js', '/console/assets/..%2f..%2fserver.js', '/console/../server.js', '/console/banks/more',
    `/console/assets/${SCRIPT}.br`, `/console/assets/${SCRIPT}.map`, '/console/assets/', '/console/.console-built/x',
  ]
  for (const url of absent) t.match((await get(url)).json(), { code: 'not_found' }, url)
  const refused = await inject({ method: 'POST', url: '/console/banks' })
  t.equal(refused.statusCode, 405)
  t.equal(refused.headers.allow, 'GET, HEAD')
})

t.test('the page receives the sign-in settings, and no secret', async (t) => {
  const dev = await testApp(t)
  t.match((await dev.get('/console/config.json')).json(), { auth_mode: 'dev', admin_token: false, version: /^\d/ })
  const key = await testApp(t, { auth: { mode: 'api_key', apiKey: 'Zq-key' }, adminToken: 'Zq-admin' })
  const { headers, body } = await key.get('/console/config.json')
  t.same(Object.keys(JSON.parse(body) as object).sort(), ['admin_token', 'auth_mode', 'version'])
  t.match(JSON.parse(body), { auth_mode: 'api_key', admin_token: true })
  t.equal(headers['cache-control'], 'no-cache')
  t.notMatch(body, /Zq/)
})

t.test('an identity provider is named and allowed by the policy, where console.oidc has a client', async (t) => {
  const { issuer, client_id: clientId } = PROVIDER
  const auth = {
    mode: 'jwt_oidc', oidcIssuer: issuer, oidcAudience: 'memory', oidcJwksUrl: 'https://keys.example.com',
  } as const
  const oidc = { client_id: clientId, parameters: { audience: 'memory' }, origins: ['https://tokens.example.com'] }
  const { get } = await testApp(t, { auth, file: { console: { oidc } } })
  t.match((await get('/console/config.json')).json(), {
    auth_mode: 'jwt_oidc',
    oidc: { issuer, client_id: clientId, scope: 'openid', token: 'access_token', parameters: { audience: 'memory' } },
  })
  const policy = directives((await get('/console/')).headers['content-security-policy'])
  t.same(policy.get('connect-src'), ["'self'", 'https://login.example.com', 'https://tokens.example.com'])
  t.same(policy.get('script-src'), ["'self'"])

  const without = await testApp(t, { auth })
  t.equal((await without.get('/console/config.json')).json<{ oidc?: object }>().oidc, undefined)
  t.same(directives((await without.get('/console/')).headers['content-security-policy']).get('connect-src'), ["'self'"])
  const otherMode = await testApp(t, { file: { console: { oidc } } })
  t.equal((await otherMode.get('/console/config.json')).json<{ oidc?: object }>().oidc, undefined)
})

t.test('the console is served by default where only this machine can reach the server', async (t) => {
  const cases: Array<[host: string, enabled: boolean | undefined, status: number]> = [
    ['127.0.0.1', undefined, 200], ['::1', undefined, 200], ['localhost', undefined, 200], ['127.0.0.1', false, 404],
    ['0.0.0.0', undefined, 404], ['memory.example.com', undefined, 404], ['0.0.0.0', true, 200],
  ]
  for (const [host, enabled, status] of cases) {
    const { get, app } = await testApp(t, { host, ...(enabled !== undefined && { file: { console: { enabled } } }) })
    for (const url of ['/console/', '/console/config.json', `/console/assets/${SCRIPT}`]) {
      t.equal((await get(url)).statusCode, status, `${host} ${enabled} ${url}`)
    }
    t.equal(app.routeTable.some(({ url }) => url.startsWith('/console')), status === 200)
  }
})

t.test('the console is not a part of the public document', async (t) => {
  const { paths } = (await (await testApp(t)).get('/openapi.json')).json<{ paths: object }>()
  t.same(Object.keys(paths).filter((path) => path.startsWith('/console')), [])
})
