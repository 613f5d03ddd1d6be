/**
 * A vector of unit length as pgvector reads it, so that no component leaves the range of half precision. A zero vector
 * stays. Seven places behind the point: half precision has less than four digits.
 * @throws RangeError for a vector that is no direction: a component is not finite
 */
export function unitVectorText (vector: Float32Array): string {
  let square = 0
  for (const value of vector) square += value * value
  if (!Number.isFinite(square)) throw new RangeError('An embedding must be of finite numbers')
  const scale = square === 0 ? 0 : 1e7 / Math.sqrt(square)
  let text = '['
  for (let index = 0; index < vector.length; index++) {
    // As an integer with an exponent: several times faster to print than a fraction, and this runs for every number of
    // every vector.
    text += `${index === 0 ? '' : ','}${Math.round(vector[index]! * scale)}e-7`
  }
  return `${text}]`
}
