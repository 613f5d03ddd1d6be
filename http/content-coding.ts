/** No browser sends a header with more parts. */
const MAX_PARTS = 32

/**
 * The first of the codings that a client accepts; undefined: the content is sent unencoded.
 * @param header Accept-Encoding
 * @param available in the order in which they are preferred
 */
export function acceptedCoding<Coding extends string> (
  header: string | undefined, available: readonly Coding[],
): Coding | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const part of header.split(',', MAX_PARTS)) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  return available.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0)
}
