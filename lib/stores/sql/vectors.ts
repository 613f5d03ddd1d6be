/**
 * A vector scaled to unit length in pgvector's syntax, so that every component is within the range of half precision. A
 * zero vector is unchanged. Seven decimal places, because half precision has fewer than four digits.
 * @throws RangeError when a component is not finite, so that the vector has no direction
 */
export function unitVectorText (vector: Float32Array): string {
  let square = 0
  for (const value of vector) square += value * value
  if (!Number.isFinite(square)) throw new RangeError('An embedding must be of finite numbers')
  const scale = square === 0 ? 0 : 1e7 / Math.sqrt(square)
  let text = '['
  for (let index = 0; index < vector.length; index++) {
    // An integer with an exponent: printing it is several times faster than printing a fraction, and this runs for
    // every component of every vector.
    text += `${index === 0 ? '' : ','}${Math.round(vector[index]! * scale)}e-7`
  }
  return `${text}]`
}
