import { createHash } from 'node:crypto'
import t from 'tap'
import { buildApp } from '../../app.js'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { refused } from './support.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

await t.test('a program gets the name, the version and the paths, each of which exists', async (t) => {
  const { get } = await testApp(t)
  for (const headers of [
    {}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'application/json, text/html;q=0.5' },
  ]) {
    const response = await get('/', headers)
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(response.headers.vary, 'Accept')
    const { name, version, links } = response.json<{ name: string, version: string, links: Record<string, string> }>()
    t.equal(name, 'Memory Gateway')
    t.equal(version, (await get('/openapi.json')).json().info.version)
    t.same(Object.keys(links), ['health', 'openapi', 'docs', 'console', 'mcp'])
    for (const [name, path] of Object.entries(links)) {
      // The endpoint of the Model Context Protocol takes POST alone.
      t.match(String((await get(path)).statusCode), name === 'mcp' ? /^405$/ : /^(200|302)$/, path)
    }
  }
})

await t.test('a browser gets a page with the same links', async (t) => {
  const { get } = await testApp(t)
  const response = await get('/', { accept: BROWSER })
  t.equal(response.headers['content-type'], 'text/html; charset=utf-8')
  t.equal(response.headers.vary, 'Accept')
  const paths = [...response.body.matchAll(/<li><a href="([^"]+)">/g)].map(([, path]) => path)
  t.same(paths, ['/console/', '/docs', '/health', '/openapi.json'])
  t.match(response.body, '<code>/mcp</code>', 'a browser cannot open it')
  t.match(response.body, 'A memory for AI agents', 'it says what the server is')
})

await t.test('the policy of the page allows its own style and its own icon alone', async (t) => {
  const { get } = await testApp(t)
  const { headers, body } = await get('/', { accept: BROWSER })
  const policy = String(headers['content-security-policy'])
  const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  t.same(policy.split('; '), [
    "default-src 'none'", "img-src 'self'", `style-src 'sha256-${hash}'`, "frame-ancestors 'none'", "base-uri 'none'",
    "form-action 'none'",
  ])
  t.notMatch(body, /<script| style=| on\w+=/)
  t.match(style, /light-dark\(/, 'light and dark')
})

await t.test('the icon is an image for everyone, which is named by the page and by the console', async (t) => {
  const { get } = await testApp(t, { auth: { mode: 'api_key', apiKey: 'the-key' } })
  const icon = await get('/favicon.svg')
  t.equal(icon.statusCode, 200)
  t.equal(icon.headers['content-type'], 'image/svg+xml')
  t.equal(icon.headers['x-content-type-options'], 'nosniff')
  t.match(icon.headers['content-security-policy'], /^default-src 'none';/)
  t.match(icon.body, /^<svg [^]*<\/svg>$/)
  t.match((await get('/', { accept: BROWSER })).body, '<link rel="icon" type="image/svg+xml" href="/favicon.svg">')
  t.match((await get('/console/')).body, /rel="icon"[^>]* href="\.\.\/favicon\.svg"/)
})

await t.test('the page requires no credentials and reveals nothing of the configuration', async (t) => {
  const open = await testApp(t)
  const { get } = await testApp(t, {
    auth: {
      mode: 'api_key', apiKey: 'the-key',
    },
    adminToken: 'the-token',
    file: { access_control: { enabled: true, default_policy: 'deny' } },
  })
  for (const headers of [{}, { accept: BROWSER }]) {
    t.equal((await get('/', headers)).body, (await open.get('/', headers)).body)
  }
})

await t.test('a plugin adds its link before the gateway is ready', async (t) => {
  const app = await buildApp(testConfig(), { log: { stream: { write () {} } } })
  t.teardown(async () => { await app.close() })
  app.links.push({ name: 'other', path: '/other', title: 'something else' })
  t.equal((await app.inject('/')).json().links.other, '/other')
  const page = (await app.inject({ url: '/', headers: { accept: BROWSER } })).body
  t.match(page, '<a href="/other">something else</a> <code>/other</code>')
})

await t.test('other methods are 405, and HEAD returns only the headers', async (t) => {
  const { inject } = await testApp(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    const response = await inject({ method, url: '/' })
    refused(t, response, 405, 'method_not_allowed')
    t.equal(response.headers.allow, 'GET, HEAD')
  }
  const head = await inject({ method: 'HEAD', url: '/', headers: { accept: BROWSER } })
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
  t.equal(head.headers['content-type'], 'text/html; charset=utf-8')
})
