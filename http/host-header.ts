import { canonicalHost, parseHost } from '../lib/base/uri.js'

/** The host of a Host header in canonical form, without the port; undefined when it is malformed. */
export function hostOfHeader (header: string): string | undefined {
  const host = /^(\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/.exec(header)?.[1]
  const parsed = host === undefined ? undefined : parseHost(host)
  return parsed === undefined ? undefined : canonicalHost(parsed)
}
