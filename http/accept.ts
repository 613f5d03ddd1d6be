/**
 * Whether an Accept header asks for a media type, and at least as much for it as for another (RFC 9110 section 12.5.1).
 * Both are looked for by name: a wildcard asks for neither.
 */
export function prefers (accept: string | undefined, type: string, other: string): boolean {
  if (accept === undefined) return false
  const weights = new Map(accept.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
  const asked = weights.get(type) ?? 0
  return asked > 0 && asked >= (weights.get(other) ?? 0)
}
