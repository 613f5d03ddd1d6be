/** No client that prefers one of our types sends a header with more parts. */
const MAX_PARTS = 32

/**
 * The weights of the media types or content codings in a header, by name in lower case (RFC 9110, section 12.4.2).
 * @param header Accept or Accept-Encoding
 */
function weightsOf (header: string): ReadonlyMap<string, number> {
  return new Map(header.split(',', MAX_PARTS).map((part) => {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
}

/**
 * Whether an Accept header lists a media type with a weight above 0 and at least that of JSON (RFC 9110, section
 * 12.5.1). Wildcards match neither of them.
 */
export function prefers (accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  const weight = weights.get(type) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}

/**
 * The first of the codings that a client accepts; undefined: the content is sent unencoded.
 * @param header Accept-Encoding
 * @param available in the order in which they are preferred
 */
export function acceptedCoding<Coding extends string> (
  header: string | undefined, available: readonly Coding[],
): Coding | undefined {
  if (header === undefined) return undefined
  const weights = weightsOf(header)
  return available.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0)
}
