/**
 * Whether an Accept header lists a media type with a weight above 0 and at least that of JSON (RFC 9110, section
 * 12.5.1). Wildcards match neither of them.
 */
export function prefers (accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false
  const weights = new Map(accept.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
  const weight = weights.get(type) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}
