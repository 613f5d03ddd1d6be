import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { hostOfHeader } from '../http/host-header.js'
import { canonicalHost, isLoopback, matchesHost } from '../lib/base/uri.js'
import { ServiceError } from '../lib/base/service-error.js'

/**
 * Whether a server for these hosts serves a request: Host must be loopback, an allowed name, or the local address of
 * the connection, which probes use and which is not a name that a web page can have.
 */
function isServedHost (header: string, localAddress: string | undefined, allowed: readonly string[]): boolean {
  const host = hostOfHeader(header)
  if (host === undefined) return false
  return isLoopback(host) || host.endsWith('.localhost') || matchesHost(host, allowed) ||
    (localAddress !== undefined && host === addressOf(localAddress))
}

/** @param setting the setting that adds names */
function hostNotAllowed (setting: string): ServiceError {
  return new ServiceError(
    'host_not_allowed', `The Host header names a host that this server does not serve; add the host to ${setting}`,
  )
}

/** Node reports an IPv4 address in its IPv6 form where the server listens on both. */
function addressOf (address: string): string {
  return canonicalHost(address.replace(/^::ffff:(?=\d+\.)/i, ''))
}

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
