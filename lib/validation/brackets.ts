/** A host as it stands in a URI, where IPv6 addresses have brackets, without them. */
export function unbracketed (host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}
