import { canonicalHost, isLoopback, matchesHost } from '../lib/validation/uri.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { hostOfHeader } from './host-header.js'

/**
 * Whether a server for these hosts serves a request: Host must be loopback, an allowed name, or the local address of
 * the connection, which probes use and which is not a name that a web page can have.
 */
export function isServedHost (header: string, localAddress: string | undefined, allowed: readonly string[]): boolean {
  const host = hostOfHeader(header)
  if (host === undefined) return false
  return isLoopback(host) || host.endsWith('.localhost') || matchesHost(host, allowed) ||
    (localAddress !== undefined && host === addressOf(localAddress))
}

/** @param setting the setting that adds names */
export function hostNotAllowed (setting: string): ServiceError {
  return new ServiceError(
    'host_not_allowed', `The Host header names a host that this server does not serve; add the host to ${setting}`,
  )
}

/** Node reports an IPv4 address in its IPv6 form where the server listens on both. */
function addressOf (address: string): string {
  return canonicalHost(address.replace(/^::ffff:(?=\d+\.)/i, ''))
}
