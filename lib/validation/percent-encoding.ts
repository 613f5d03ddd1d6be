/** Whether a part of a URL can be decoded: it is percent-encoded UTF-8, and every % begins a byte. */
export function isPercentEncoded (text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
