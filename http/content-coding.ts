import { weightsOf } from './accept.js'

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
