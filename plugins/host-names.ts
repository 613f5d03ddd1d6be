import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { canonicalHost, hostOfHeader, isLoopback, matchesHost } from '../lib/config/hosts.js'
import { ServiceError } from '../lib/errors/service-error.js'

/**
 * For dev mode, which trusts every caller: serves no request whose Host is another name than those that the server is
 * asked under. A page in a browser can have its own name point to this machine, and would then read memories as its own
 * (DNS rebinding); the Host header tells it. The address that a connection came in at is right for a probe, and no name
 * that a page could have.
 */
async function hostNames (app: FastifyInstance, { allowed }: { allowed: readonly string[] }): Promise<void> {
  const isServed = (header: string, localAddress: string | undefined) => {
    const host = hostOfHeader(header)
    if (host === undefined) return false
    return isLoopback(host) || host.endsWith('.localhost') || matchesHost(host, allowed) || (localAddress !== undefined && host === addressOf(localAddress))
  }
  // Nearly all requests of a connection, and of most servers, come with one and the same.
  let last: { header: string, localAddress: string | undefined } | undefined
  app.addHook('onRequest', ({ headers: { host: header }, raw: { socket: { localAddress } } }, _reply, done) => {
    // Only HTTP/1.0 can do without, which no browser speaks.
    if (header === undefined || (last?.header === header && last.localAddress === localAddress)) {
      done()
    } else if (isServed(header, localAddress)) {
      last = { header, localAddress }
      done()
    } else {
      done(new ServiceError('host_not_allowed', 'The server is not asked under this host name; SERVICES_ALLOWED_HOSTS adds names'))
    }
  })
}

/** An IPv4 address comes in IPv6 form where the server listens on both. */
function addressOf (address: string): string {
  return canonicalHost(address.replace(/^::ffff:(?=\d+\.)/i, ''))
}

export default fp(hostNames, { name: 'host-names', fastify: '5.x', dependencies: ['errors', 'http-rules'] })
