const STEPS = [1, 2, 2.5, 5, 10]

/** The smallest round number that is not less than a value, for the top of a chart. */
export function roundUp (value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const step = STEPS.find((one) => one * power >= value) ?? 10
  return step * power
}

/**
 * The path of a line through values, with gaps where there is no value.
 * @param values null: none
 */
export function linePath (values: ReadonlyArray<number | null>, width: number, height: number, top: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0
  let path = ''
  let isDrawing = false
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      // A value between two gaps is drawn as a dot: a line of zero length with round ends.
      const point = `${(index * step).toFixed(1)} ${(height - Math.min(value, top) / top * height).toFixed(1)}`
      path += isDrawing ? `L${point}` : `M${point}l0 0`
    }
    isDrawing = value !== null
  }
  return path
}
