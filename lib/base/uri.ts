import { BlockList, isIP } from 'node:net'

/** A host as it stands in a URI, where IPv6 addresses have brackets, without them. */
export function unbracketed (host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/** Whether a part of a URL can be decoded: it is percent-encoded UTF-8, and every % begins a byte. */
export function isPercentEncoded (text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/
// A name that ends in a number is a mistyped IPv4 address.
const ENDS_IN_NUMBER = /(^|\.)\d+\.?$/

// An IPv4 address in IPv6 form (::ffff:127.0.0.1) meets the IPv4 rule.
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * An address or host name as Node listens on it, an IPv6 address without its brackets.
 * @returns undefined for anything else, for instance a URL or a host with a port
 */
export function parseHost (text: string): string | undefined {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1]
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined
  if (isIP(text) !== 0) return text
  return HOST_NAME.test(text) && !ENDS_IN_NUMBER.test(text) ? text : undefined
}

/** The canonical form of a host, for comparisons. @param host from parseHost() */
export function canonicalHost (host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase().replace(/\.$/, '')
}

/**
 * A host or a pattern such as `*.example.com`, for all names below it, in canonical form.
 * @returns undefined for anything else
 */
export function parseHostPattern (text: string): string | undefined {
  const isWild = text.startsWith('*.')
  const host = parseHost(isWild ? text.slice(2) : text)
  if (host === undefined || (isWild && isIP(host) !== 0)) return undefined
  return isWild ? `*.${canonicalHost(host)}` : canonicalHost(host)
}

/** @param host in canonical form @param patterns from parseHostPattern() */
export function matchesHost (host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length
    : host === pattern)
}

/** Whether only this machine can reach the host. The only name is `localhost`, as others may resolve to any address. */
export function isLoopback (host: string): boolean {
  const address = unbracketed(host)
  if (address.toLowerCase() === 'localhost') return true
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * The origin of a web page as browsers send it.
 * @returns undefined for anything else: a URL with a path, a wildcard, `null`
 */
export function parseOrigin (text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}
