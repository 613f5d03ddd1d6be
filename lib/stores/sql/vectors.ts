/**
 * A vector of unit length as pgvector reads it, so that no component leaves the range of half precision. A zero vector stays.
 * Six digits: half precision has less than four.
 * @throws RangeError for a vector that is no direction: a component is not finite
 */
export function unitVectorText (vector: Float32Array): string {
  let square = 0
  for (const value of vector) square += value * value
  if (!Number.isFinite(square)) throw new RangeError('An embedding must be of finite numbers')
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square)
  let text = '['
  for (let index = 0; index < vector.length; index++) {
    // Number() takes the zeros off that toPrecision pads with.
    text += `${index === 0 ? '' : ','}${Number((vector[index]! * scale).toPrecision(6))}`
  }
  return `${text}]`
}
