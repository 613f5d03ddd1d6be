import Fastify from 'fastify'
import hindsight from './index.js'

/* The program: Hindsight's API on a port of its own, in front of a gateway. README.md describes the variables. */

const {
  MEMORY_GATEWAY_URL: gateway = 'http://127.0.0.1:8080', HINDSIGHT_API_KEY_PRINCIPAL: apiKeyPrincipal,
  HINDSIGHT_HOST: host = '127.0.0.1', HINDSIGHT_PORT: port = '8888',
} = process.env

/** The names of a host that only this machine reaches. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i
const isLocal = LOOPBACK.test(host) || host === '::1'

const app = Fastify({
  logger: true,
  bodyLimit: 4 * 1024 * 1024,
  // A bank id has at most 255 characters, each of which may be escaped as three.
  routerOptions: { maxParamLength: 1024 },
  requestTimeout: 60_000,
})
// Otherwise a page in a browser could reach a gateway in mode dev under a name of its own that leads here.
app.addHook('onRequest', async ({ headers }, reply) => {
  if (isLocal && !LOOPBACK.test(headers.host ?? '')) {
    return await reply.code(403).send({ detail: 'This host name is not served', code: 'host_not_allowed' })
  }
})
await app.register(hindsight, { gateway, apiKeyPrincipal })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { void app.close() })
await app.listen({ host, port: Number(port) })
