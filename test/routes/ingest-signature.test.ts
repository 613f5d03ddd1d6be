import { request as httpRequest } from 'node:http'
import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused } from './support.js'
import { NOW, openSource, SECRET, send, signatureOf, signedSource } from './webhooks.js'

const app = await testApp(t, {
  file: {
    sources: {
      plain: signedSource(),
      named: signedSource({ header: 'X-Hub-Signature-256' }),
      timed: signedSource({ timestamp_header: 'X-Timestamp' }),
      open: openSource(),
    },
  },
})

// White space and a letter outside ASCII: what is signed are the bytes, not the value.
const BODY = '{ "content" : "Ordér 17 was shipped." }'
const REFUSAL = { detail: 'Invalid or missing signature' }

const good: Record<string, Record<string, string>> = {
  'with its prefix': { 'x-signature-256': `sha256=${signatureOf(BODY)}` },
  'without a prefix': { 'x-signature-256': signatureOf(BODY) },
  'in upper-case hex': { 'x-signature-256': `sha256=${signatureOf(BODY).toUpperCase()}` },
  'with a prefix in upper case': { 'x-signature-256': `SHA256=${signatureOf(BODY)}` },
}
for (const [what, headers] of Object.entries(good)) {
  await t.test(`a signature ${what} is accepted`, async (t) => {
    t.equal((await send(app, 'plain', BODY, headers)).statusCode, 200)
  })
}

const RIGHT = signatureOf(BODY)
const bad: Record<string, Record<string, string>> = {
  missing: {},
  empty: { 'x-signature-256': '' },
  'the prefix alone': { 'x-signature-256': 'sha256=' },
  'of another secret': { 'x-signature-256': signatureOf(BODY, 'another secret') },
  'one digit off': { 'x-signature-256': `${RIGHT.slice(0, -1)}${RIGHT.endsWith('0') ? '1' : '0'}` },
  'one digit short': { 'x-signature-256': RIGHT.slice(0, -1) },
  'one digit long': { 'x-signature-256': `${RIGHT}0` },
  'of another hash': { 'x-signature-256': `sha1=${RIGHT}` },
  'not hex': { 'x-signature-256': 'g'.repeat(64) },
  'in another header': { 'x-hub-signature-256': RIGHT },
  'the secret itself': { 'x-signature-256': SECRET },
}
for (const [what, headers] of Object.entries(bad)) {
  await t.test(`a signature that is ${what} is 401`, async (t) => {
    refused(t, await send(app, 'plain', BODY, headers), 401, 'unauthenticated', REFUSAL)
  })
}

await t.test('a body altered by one byte is 401', async (t) => {
  const headers = { 'x-signature-256': RIGHT }
  for (const altered of [BODY.replace('17', '18'), `${BODY} `, BODY.slice(1), BODY.replace('{ ', '{')]) {
    refused(t, await send(app, 'plain', altered, headers), 401, 'unauthenticated', REFUSAL)
  }
})

await t.test('two signatures are 401, even when one is right', async (t) => {
  const address = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const status = await new Promise((resolve, reject) => {
    httpRequest(`${address}/v1/ingest/webhook/plain`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-signature-256': [RIGHT, RIGHT] },
    }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject).end(BODY)
  })
  t.equal(status, 401)
})

await t.test('a source may set the name of its signature header', async (t) => {
  t.equal((await send(app, 'named', BODY, { 'x-hub-signature-256': `sha256=${RIGHT}` })).statusCode, 200)
  refused(t, await send(app, 'named', BODY, { 'x-signature-256': RIGHT }), 401, 'unauthenticated', REFUSAL)
})

await t.test('with a timestamp header', async (t) => {
  const signed = (timestamp: string) => ({
    'x-timestamp': timestamp, 'x-signature-256': signatureOf(`${timestamp}.${BODY}`),
  })

  for (const offset of [0, 1, -1, 300, -300]) {
    await t.test(`a timestamp ${offset} s from now is accepted`, async (t) => {
      t.equal((await send(app, 'timed', BODY, signed(String(NOW + offset)))).statusCode, 200)
    })
  }
  for (const offset of [301, -301, 86_400]) {
    await t.test(`a timestamp ${offset} s from now is 401`, async (t) => {
      refused(t, await send(app, 'timed', BODY, signed(String(NOW + offset))), 401, 'unauthenticated', REFUSAL)
    })
  }
  const wrong: Record<string, Record<string, string>> = {
    'no timestamp': { 'x-signature-256': signatureOf(`${NOW}.${BODY}`) },
    'no timestamp, and a signature of the body alone': { 'x-signature-256': RIGHT },
    'a signature of the body alone': { 'x-timestamp': String(NOW), 'x-signature-256': RIGHT },
    'the signature of another timestamp': { ...signed(String(NOW)), 'x-timestamp': String(NOW + 1) },
    'a timestamp in milliseconds': signed(String(NOW * 1000)),
    'a timestamp in words': signed('now'),
    'a negative timestamp': signed(`-${NOW}`),
    'an empty timestamp': signed(''),
  }
  for (const [what, headers] of Object.entries(wrong)) {
    await t.test(`${what} is 401`, async (t) => {
      refused(t, await send(app, 'timed', BODY, headers), 401, 'unauthenticated', REFUSAL)
    })
  }

  await t.test('a valid event is 401 when it is sent again after five minutes', async (t) => {
    const later = await testApp(t, { file: { sources: { timed: signedSource({ timestamp_header: 'X-Timestamp' }) } } })
    const headers = signed(String(NOW))
    t.equal((await send(later, 'timed', BODY, headers)).statusCode, 200)
    later.clock.advance(300_000)
    t.equal((await send(later, 'timed', BODY, headers)).statusCode, 200)
    later.clock.advance(1000)
    refused(t, await send(later, 'timed', BODY, headers), 401, 'unauthenticated', REFUSAL)
  })
})

await t.test('the signature is checked before the content of the body', async (t) => {
  refused(t, await send(app, 'plain', '{not json'), 401, 'unauthenticated', REFUSAL)
  refused(
    t, await send(app, 'plain', '{not json', { 'x-signature-256': signatureOf('{not json') }), 400, 'invalid_json',
  )
})

await t.test('the signature is checked before the content type', async (t) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense', '']) {
    for (const headers of [{}, { 'x-signature-256': signatureOf(BODY, 'another secret') }]) {
      const response = await send(app, 'plain', BODY, { 'content-type': type, ...headers })
      refused(t, response, 401, 'unauthenticated', REFUSAL)
    }
    refused(
      t, await send(app, 'plain', BODY, { 'content-type': type, 'x-signature-256': RIGHT }), 415,
      'unsupported_media_type',
    )
  }
  const compressed = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  refused(t, await send(app, 'plain', BODY, compressed), 401, 'unauthenticated', REFUSAL)
  refused(t, await send(app, 'plain', BODY, {
    ...compressed, 'x-signature-256': RIGHT,
  }), 415, 'unsupported_media_type', {
    detail: /uncompressed/,
  })
  refused(t, await send(app, 'plain', 'x'.repeat(11_000_000), { 'content-type': 'text/plain' }), 413, 'body_too_large')
})

await t.test('an unsigned text is 401 over a socket, too', async (t) => {
  const address = app.app.listeningOrigin
  for (const [body, headers, status] of [
    [BODY, {}, 401], [BODY, { 'x-signature-256': RIGHT }, 415], ['', {}, 401],
  ] as const) {
    const response = await fetch(`${address}/v1/ingest/webhook/plain`, {
      method: 'POST', headers: { 'content-type': 'text/plain', ...headers }, body,
    })
    t.equal(response.status, status)
    t.match(await response.json(), { code: String })
  }
})

await t.test('an empty body needs a signature too', async (t) => {
  refused(t, await send(app, 'plain', ''), 401, 'unauthenticated', REFUSAL)
  refused(t, await send(app, 'plain', '', { 'x-signature-256': signatureOf('') }), 400, 'invalid_json')
})

await t.test('a source without auth accepts events of any sender', async (t) => {
  t.equal((await send(app, 'open', BODY)).statusCode, 200)
  t.equal((await send(app, 'open', BODY, { 'x-signature-256': 'nonsense' })).statusCode, 200)
})

await t.test('a source that does not exist is 404, whatever is sent', async (t) => {
  for (const source of ['unknown', 'toString', '__proto__', 'PLAIN']) {
    refused(
      t, await send(app, source, BODY, { 'x-signature-256': RIGHT }), 404, 'not_found', { detail: 'No such source' },
    )
    refused(t, await send(app, source, '{not json', { 'content-type': 'text/plain' }), 404, 'not_found')
  }
})

await t.test('X-Service-On-Behalf-Of is refused, and only to a sender who has the secret', async (t) => {
  const obo = { 'x-service-on-behalf-of': 'user:bob' }
  const refusal = {
    errors: [{
      field: 'X-Service-On-Behalf-Of',
      message: 'is not accepted from a webhook: its events are stored as the principal of the source',
    }],
  }
  const before = (await app.get('/v1/banks/inbox')).json().memory_count
  for (const value of ['user:bob', 'nonsense']) {
    const headers = { 'x-signature-256': signatureOf(BODY), 'x-service-on-behalf-of': value }
    refused(t, await send(app, 'plain', BODY, headers), 400, 'invalid_request', refusal)
  }
  refused(t, await send(app, 'open', '{"content":"Order 18."}', obo), 400, 'invalid_request', refusal)
  refused(t, await send(app, 'plain', BODY, obo), 401, 'unauthenticated', REFUSAL)
  t.equal((await app.get('/v1/banks/inbox')).json().memory_count, before)
  const blank = { 'x-signature-256': signatureOf(BODY), 'x-service-on-behalf-of': ' ' }
  t.equal((await send(app, 'plain', BODY, blank)).statusCode, 200)
})
