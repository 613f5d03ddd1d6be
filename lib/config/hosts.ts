import { BlockList, isIP } from 'node:net'

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/
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

/** Whether only this machine can reach the host. Of names only `localhost` counts: any other may resolve to anything. */
export function isLoopback (host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (address.toLowerCase() === 'localhost') return true
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
