import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { sending, startJwksServer, type JwksServer } from '../../helpers/jwks-server.js'
import { rsaKey } from '../../helpers/tokens.js'
import { ask, setUp } from './key-source-setup.js'

const k1 = rsaKey('k1')
const k2 = rsaKey('k2')

const answers: Record<string, Parameters<JwksServer['answer']>[0]> = {
  'status 500': sending(500, JSON.stringify({ keys: [k1.jwk] })),
  'status 204': sending(204, ''),
  HTML: sending(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }),
  'an empty body': sending(200, ''),
  'JSON that is no object': sending(200, '[]'),
  'no list of keys': sending(200, '{"keys":{"0":{}}}'),
  'an endless body': (_request, response) => {
    response.on('error', () => {})
    const more = () => { while (response.write(' '.repeat(4096))); }
    response.on('drain', more)
    more()
  },
  'a body over 64 KiB': sending(200, JSON.stringify({ keys: [k1.jwk], filler: 'x'.repeat(64 * 1024) })),
  'a broken connection': (request) => { request.socket.destroy() },
  'half a body': (request, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('{"keys":', () => { request.socket.destroy() })
  },
}
for (const [what, listener] of Object.entries(answers)) {
  await t.test(`a provider that answers with ${what} provides no key`, async (t) => {
    const { server, keys, failures } = await setUp(t, [k1])
    server.answer(listener)
    t.equal(await ask(keys, 'k1'), 'unavailable 30')
    t.equal(failures.length, 1)
  })
}

await t.test('a redirect is not followed', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  const target = await startJwksServer(k1)
  t.teardown(() => target.close())
  server.answer(sending(302, '', { location: target.url }))
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
  t.equal(target.requests, 0)
})

await t.test('a refused connection means that the provider is down', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  await server.close()
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
})

await t.test('a provider that never answers is abandoned after the time limit', async (t) => {
  const { server, keys } = await setUp(t, [k1], 50)
  server.answer(() => {})
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(keys, 'k1')))
  t.same(new Set(answers), new Set(['unavailable 30']))
  t.equal(server.requests, 1)
})

await t.test('the time limit holds for a body that stops, also after a garbage collection', async (t) => {
  const { server, keys } = await setUp(t, [k1], 100)
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const collecting = setInterval(collect, 10)
  t.teardown(() => { clearInterval(collecting) })
  server.answer((_request, response) => {
    response.writeHead(200)
    response.write('{"keys":[')
  })
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
})

await t.test('the time limit holds for a body that arrives byte by byte', async (t) => {
  const { server, keys } = await setUp(t, [k1], 50)
  server.answer((_request, response) => {
    const drip = setInterval(() => { response.write(' ') }, 5)
    response.on('close', () => { clearInterval(drip) })
  })
  t.equal(await ask(keys, 'k1'), 'unavailable 30')
})

await t.test('only keys for RS256 signatures are used', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  const { use: _use, alg: _alg, ...plain } = k2.jwk
  server.answer(sending(200, JSON.stringify({
    keys: [
      null, 7, 'key', [],
      { ...k1.jwk, kid: 'encryption', use: 'enc' },
      { ...k1.jwk, kid: 'other operations', use: undefined, key_ops: ['encrypt', 'wrapKey'] },
      { ...k1.jwk, kid: 'no operations', use: undefined, key_ops: 'verify' },
      { ...k1.jwk, kid: 'other algorithm', alg: 'RS512' },
      { ...k1.jwk, kid: 'null algorithm', alg: null },
      { ...k1.jwk, kid: 'elliptic', kty: 'EC' },
      { ...k1.jwk, kid: 'secret', kty: 'oct', k: 'AAAA' },
      { ...k1.jwk, kid: 'no modulus', n: undefined },
      { ...k1.jwk, kid: 'broken', n: '', e: '' },
      { ...k1.jwk, kid: 7 },
      { ...k1.jwk, kid: 'x'.repeat(201) },
      { ...rsaKey('weak', 1024).jwk },
      { ...plain, kid: 'é"#?&% plain', key_ops: ['verify'] },
    ],
  })))
  for (const kid of [
    'encryption', 'other operations', 'no operations', 'other algorithm', 'null algorithm', 'elliptic', 'secret',
    'no modulus', 'broken', 'weak', '7',
  ]) {
    t.equal(await ask(keys, kid), 'refused', kid)
  }
  t.equal(await keys.pem('é"#?&% plain'), k2.publicPem)
})

await t.test('a set whose keys are all too weak is as good as none', async (t) => {
  const { keys } = await setUp(t, [rsaKey('weak', 1024)])
  t.equal(await ask(keys, 'weak'), 'unavailable 30')
})

await t.test('a set is read up to its fiftieth key', async (t) => {
  const { server, keys } = await setUp(t, [k1])
  server.answer(sending(200, JSON.stringify({
    keys: Array.from({ length: 60 }, (_, index) => ({ ...k1.jwk, kid: `n${index}` })),
  })))
  t.equal(await ask(keys, 'n49'), 'ok')
  t.equal(await ask(keys, 'n50'), 'refused')
})
