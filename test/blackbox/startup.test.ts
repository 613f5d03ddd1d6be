import t from 'tap'
import { startServer } from '../helpers/server.js'

t.test('the server answers in whatever directory it is started', async (t) => {
  for (const cwd of ['/', t.testdir()]) {
    const server = await startServer(t, {}, { cwd })
    t.same(await (await fetch(`${server.url}/live`)).json(), { status: 'ok' })
    t.equal((await fetch(`${server.url}/health`)).status, 200)
    t.equal((await (await fetch(`${server.url}/openapi.json`)).json() as { openapi: string }).openapi, '3.1.0')
    t.match(await (await fetch(`${server.url}/docs/`)).text(), /<html/, 'the documentation\'s files are found')
    const body = JSON.stringify({ bank_id: 'team', content: 'The otter sleeps.' })
    t.equal(
      (await fetch(`${server.url}/v1/retain`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body,
      })).status,
      200,
    )
  }
})

t.test('a relative configuration path is resolved against the working directory', async (t) => {
  const directory = t.testdir({ 'config.yaml': 'access_control: { enabled: true, default_policy: deny }\n' })
  const server = await startServer(t, { SERVICES_CONFIG_PATH: 'config.yaml' }, { cwd: directory })
  t.equal((await fetch(`${server.url}/v1/banks/team`, { headers: { 'x-service-principal': 'user:bob' } })).status, 403)
})

t.test('listening beyond loopback requires an auth mode other than dev, or SERVICE_ALLOW_DEV_AUTH', async (t) => {
  const allowed = await startServer(t, { SERVICES_HOST: '0.0.0.0', SERVICE_ALLOW_DEV_AUTH: '1' })
  t.match(allowed.output(), /"level":40.*dev/)
  const other = await startServer(t, {
    SERVICES_HOST: '0.0.0.0', SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'the key',
  })
  t.equal((await fetch(`http://127.0.0.1:${new URL(other.url).port}/v1/whoami`)).status, 401)
})

t.test('a mode whose setting is missing starts, and the answer to each request says what is missing', async (t) => {
  const server = await startServer(t, { SERVICE_AUTH_MODE: 'api_key' })
  t.equal((await fetch(`${server.url}/live`)).status, 200)
  const response = await fetch(`${server.url}/v1/whoami`)
  t.equal(response.status, 500)
  t.match(await response.json(), {
    detail: 'SERVICE_API_KEY is not set', code: 'misconfigured', request_id: response.headers.get('x-request-id')!,
  })
})

t.test('the name localhost is the loopback address', async (t) => {
  const server = await startServer(t, { SERVICES_HOST: 'localhost' })
  t.match(server.url, /^http:\/\/127\.0\.0\.1:/)
  t.equal((await fetch(`${server.url}/live`)).status, 200)
})
