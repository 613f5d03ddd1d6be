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
  t.match(response.headers['content-security-policy'], /^default-src 'none';/)
  for (const path of ['/health', '/openapi.json', '/docs']) {
    t.ok(response.body.includes(`<a href="${path}">${path}</a>`), path)
  }
  t.match(response.body, '<code>/mcp</code>', 'a browser cannot open it')
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
  t.match(page, '<a href="/other">/other</a>: something else')
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
