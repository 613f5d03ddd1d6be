import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { hostNotAllowed, isServedHost } from '../http/served-hosts.js'

interface HostNamesOptions {
  allowed: readonly string[]
  /** The setting that adds names, for the error message. Default: SERVICES_ALLOWED_HOSTS. */
  setting?: string
}

/**
 * Protects dev mode, which trusts every caller, against DNS rebinding: a web page can point its own name to this
 * machine and then read memories from the browser. Requests are served only when Host is one of isServedHost.
 */
async function hostNames (
  app: FastifyInstance, { allowed, setting = 'SERVICES_ALLOWED_HOSTS' }: HostNamesOptions,
): Promise<void> {
  // Nearly all requests have the same Host, so the last accepted one is remembered.
  let last: { header: string, localAddress: string | undefined } | undefined
  app.addHook('onRequest', ({ headers: { host: header }, raw: { socket: { localAddress } } }, _reply, done) => {
    // Only HTTP/1.0, which no browser speaks, allows a request without Host.
    if (header === undefined || (last?.header === header && last.localAddress === localAddress)) {
      done()
    } else if (isServedHost(header, localAddress, allowed)) {
      last = { header, localAddress }
      done()
    } else {
      done(hostNotAllowed(setting))
    }
  })
}

export default fp(hostNames, { name: 'host-names', fastify: '5.x', dependencies: ['errors', 'http-rules'] })
