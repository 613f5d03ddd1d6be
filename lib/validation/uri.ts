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
