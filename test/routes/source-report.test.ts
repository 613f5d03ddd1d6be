import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { openSource, send, sendJson, signatureOf, signedSource } from './webhooks.js'

async function report ({ get }: TestApp, id = 'shop'): Promise<Record<string, unknown>> {
  const { sources } = (await get('/v1/admin/sources')).json<{ sources: Array<Record<string, unknown>> }>()
  return sources.find((source) => source['id'] === id)!
}

await t.test('every source of the configuration is reported, in its order and without its secret', async (t) => {
  const app = await testApp(t, {
    file: { sources: { shop: signedSource(), crm: openSource({ target_bank: 'leads' }) } },
  })
  const response = await app.get('/v1/admin/sources')
  const untouched = {
    type: 'webhook', healthy: true, message: 'no event yet', last_event_at: null, accepted: 0, rejected: 0,
  }
  t.same(response.json(), {
    sources: [{ id: 'shop', target_bank: 'inbox', ...untouched }, { id: 'crm', target_bank: 'leads', ...untouched }],
  })
})

await t.test('an accepted event is counted, and the last one is remembered', async (t) => {
  const app = await testApp(t, { file: { sources: { shop: openSource(), crm: openSource() } } })
  await sendJson(app, 'shop', { content: 'one' })
  app.clock.advance(5000)
  await sendJson(app, 'shop', { content: 'two' })
  t.match(await report(app), {
    healthy: true, message: 'ok', last_event_at: '2026-01-15T10:00:05.000Z', accepted: 2, rejected: 0,
  })
  t.match(await report(app, 'crm'), { accepted: 0, last_event_at: null })
})

await t.test('an exact repeat is accepted', async (t) => {
  const app = await testApp(t, { file: { sources: { shop: openSource() } } })
  await sendJson(app, 'shop', { content: 'same' })
  await sendJson(app, 'shop', { content: 'same' })
  t.match(await report(app), { accepted: 2, rejected: 0, healthy: true })
})

await t.test('a source whose event was refused is unhealthy until an event is retained', async (t) => {
  const app = await testApp(t, { file: { sources: { shop: openSource() } } })
  await sendJson(app, 'shop', { nothing: true })
  t.match(await report(app), {
    healthy: false, message: /invalid_request/, accepted: 0, rejected: 1, last_event_at: '2026-01-15T10:00:00.000Z',
  })
  await sendJson(app, 'shop', { content: 'good' })
  t.match(await report(app), { healthy: true, message: 'ok', accepted: 1, rejected: 1 })
})

await t.test('a source that access control denies is unhealthy and says why', async (t) => {
  const app = await testApp(t, {
    file: { access_control: { enabled: true, default_policy: 'deny' }, sources: { shop: openSource() } },
  })
  await sendJson(app, 'shop', { content: 'x' })
  t.match(await report(app), { healthy: false, message: /access_denied/, rejected: 1 })
})

await t.test('a signed event that is not JSON is rejected like any other that cannot be retained', async (t) => {
  const app = await testApp(t, { file: { sources: { shop: signedSource() } } })
  await send(app, 'shop', '{not json', { 'x-signature-256': signatureOf('{not json') })
  t.match(await report(app), {
    healthy: false, message: /invalid_json/, rejected: 1, last_event_at: '2026-01-15T10:00:00.000Z',
  })
})

await t.test('a bad signature is counted and does not affect the health of the source', async (t) => {
  const app = await testApp(t, { file: { sources: { shop: signedSource() } } })
  await send(app, 'shop', '{"content":"x"}', { 'x-signature-256': signatureOf('something else') })
  t.match(await report(app), { healthy: true, message: 'no event yet', last_event_at: null, accepted: 0, rejected: 1 })
})

await t.test('an authentic event that is refused before it is read makes the source unhealthy', async (t) => {
  const body = '{"content":"x"}'
  const wrong = [{ 'content-type': 'application/x-www-form-urlencoded' }, { 'content-encoding': 'gzip' }]
  for (const headers of wrong) {
    for (const source of [openSource(), signedSource()]) {
      const app = await testApp(t, { file: { sources: { shop: source } } })
      await send(app, 'shop', body, { ...headers, 'x-signature-256': signatureOf(body) })
      t.match(await report(app), {
        healthy: false, message: /unsupported_media_type/, rejected: 1, last_event_at: '2026-01-15T10:00:00.000Z',
      }, `${Object.keys(headers)[0]!}, ${source.auth.type}`)
    }
  }
})

await t.test('an event that is too large is counted, and affects the health of sources without auth', async (t) => {
  const app = await testApp(t, { maxBodyBytes: 1000, file: { sources: { shop: signedSource(), crm: openSource() } } })
  const body = JSON.stringify({ content: 'x'.repeat(1000) })
  for (const source of ['shop', 'crm']) await send(app, source, body, { 'x-signature-256': signatureOf(body) })
  t.match(await report(app), { healthy: true, message: 'no event yet', rejected: 1, last_event_at: null })
  t.match(await report(app, 'crm'), { healthy: false, message: /body_too_large/, rejected: 1 })
})
