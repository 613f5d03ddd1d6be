/**
 * The inner loops of the sentence encoder, in AssemblyScript: products of matrices of 16-bit integers, and the
 * element-wise operations between them. An instruction of WebAssembly SIMD multiplies eight 16-bit integers, twice as
 * many as 32-bit floats. lib/models/local/use-matrices.mjs owns the memory that this module imports.
 *
 * `npm run build:wasm` compiles it. The module consists of these functions only: it has no allocator and no runtime.
 */

/**
 * Quantizes rows of floats to 16-bit integers. Each row has its own scale, the largest one with which the Euclidean
 * length of the row stays within `limit` and its largest number fits into 16 bits.
 *
 * @param from byte offset of the first row, f32
 * @param stride bytes from the start of a row to that of the next
 * @param to byte offset of rows * columns i16
 * @param scales byte offset of `rows` f32: the value of the integer 1 in each row
 * @param columns a multiple of 8
 * @param limit maximum Euclidean length of a row of integers, apart from rounding
 */
export function round (
  from: usize, stride: usize, to: usize, scales: usize, rows: u32, columns: u32, limit: f32,
): void {
  const bytes: usize = <usize>columns << 2
  for (let row: u32 = 0; row < rows; row++) {
    let squares = f32x4.splat(0)
    let largest = f32x4.splat(0)
    for (let at: usize = 0; at < bytes; at += 16) {
      const four = v128.load(from + at)
      squares = f32x4.add(squares, f32x4.mul(four, four))
      largest = f32x4.max(largest, f32x4.abs(four))
    }
    const length = sqrt<f32>(sumOf(squares))
    const magnitude = max<f32>(max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
      max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)))
    const scale: f32 = length > 1e-30 ? min<f32>(limit / length, <f32>32767 / magnitude) : 0
    store<f32>(scales, scale > 0 ? 1 / scale : 0)
    scales += 4
    const factor = f32x4.splat(scale)
    for (let at: usize = 0; at < bytes; at += 32) {
      v128.store(to, narrow(v128.load(from + at), v128.load(from + at, 16), factor, factor))
      to += 16
    }
    from += stride
  }
}

/**
 * Quantizes a matrix that is the right operand of a product. Each column has its own scale, as each row in `round`.
 *
 * @param from byte offset of the first row, f32
 * @param stride bytes from the start of a row to that of the next
 * @param to byte offset of wholeRows * columns i16, in the order that `multiply` reads
 * @param scales byte offset of `columns` f32: the value of the integer 1 in each column
 * @param wholeRows an even number; the rows from `rows` on are filled with zeros
 * @param columns a multiple of 8
 * @param limit maximum Euclidean length of a column of integers, apart from rounding
 */
export function roundColumns (
  from: usize, stride: usize, to: usize, scales: usize, rows: u32, wholeRows: u32, columns: u32, limit: f32,
): void {
  const zeros = f32x4.splat(0)
  for (let column: u32 = 0; column < columns; column += 8) {
    let squares0 = zeros
    let squares1 = zeros
    let largest0 = zeros
    let largest1 = zeros
    let at = from
    for (let row: u32 = 0; row < rows; row++) {
      const low = v128.load(at)
      const high = v128.load(at, 16)
      squares0 = f32x4.add(squares0, f32x4.mul(low, low))
      squares1 = f32x4.add(squares1, f32x4.mul(high, high))
      largest0 = f32x4.max(largest0, f32x4.abs(low))
      largest1 = f32x4.max(largest1, f32x4.abs(high))
      at += stride
    }
    // The minimum keeps the scale of a column of zeros finite.
    const minDivisor = f32x4.splat(1e-30)
    const maxInteger = f32x4.splat(32767)
    const maxLength = f32x4.splat(limit)
    const factor0 = f32x4.min(f32x4.div(maxLength, f32x4.max(minDivisor, f32x4.sqrt(squares0))),
      f32x4.div(maxInteger, f32x4.max(minDivisor, largest0)))
    const factor1 = f32x4.min(f32x4.div(maxLength, f32x4.max(minDivisor, f32x4.sqrt(squares1))),
      f32x4.div(maxInteger, f32x4.max(minDivisor, largest1)))
    const one = f32x4.splat(1)
    v128.store(scales, f32x4.div(one, factor0))
    v128.store(scales, f32x4.div(one, factor1), 16)
    scales += 32
    at = from
    for (let row: u32 = 0; row < wholeRows; row += 2) {
      let first = i16x8.splat(0)
      let second = i16x8.splat(0)
      if (row < rows) first = narrow(v128.load(at), v128.load(at, 16), factor0, factor1)
      at += stride
      if (row + 1 < rows) second = narrow(v128.load(at), v128.load(at, 16), factor0, factor1)
      at += stride
      v128.store(to, i16x8.shuffle(first, second, 0, 8, 1, 9, 2, 10, 3, 11))
      v128.store(to, i16x8.shuffle(first, second, 4, 12, 5, 13, 6, 14, 7, 15), 16)
      to += 32
    }
    from += 32
  }
}

/**
 * Adds numbers to others: to[i] += what[i].
 * @param bytes a multiple of 16
 */
export function add (to: usize, what: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 16) v128.store(to + at, f32x4.add(v128.load(to + at), v128.load(what + at)))
}

/**
 * Replaces the first of several rows of f32 by their mean.
 * @param columns a multiple of 4
 */
export function mean (values: usize, rows: u32, columns: u32): void {
  const stride: usize = <usize>columns << 2
  const share = f32x4.splat(1 / <f32>rows)
  for (let at: usize = 0; at < stride; at += 16) {
    let sum = f32x4.splat(0)
    let from = values + at
    for (let row: u32 = 0; row < rows; row++) {
      sum = f32x4.add(sum, v128.load(from))
      from += stride
    }
    v128.store(values + at, f32x4.mul(sum, share))
  }
}

/**
 * Layer normalization: brings each row to a mean of 0 and a variance of 1, then scales and shifts it:
 * to[i][j] = normal(from[i])[j] * factors[j] + bias[j].
 *
 * @param from byte offset of rows * columns f32
 * @param to byte offset of as many
 * @param factors byte offset of f32, one for each column
 * @param bias byte offset of f32, one for each column
 * @param columns a multiple of 4
 * @param epsilon is added to the variance, so that the divisor is not zero
 */
export function normalize (
  from: usize, to: usize, factors: usize, bias: usize, rows: u32, columns: u32, epsilon: f32,
): void {
  const bytes: usize = <usize>columns << 2
  for (let row: u32 = 0; row < rows; row++) {
    let sum = f32x4.splat(0)
    for (let at: usize = 0; at < bytes; at += 16) sum = f32x4.add(sum, v128.load(from + at))
    const middle = f32x4.splat(sumOf(sum) / <f32>columns)
    let squares = f32x4.splat(0)
    for (let at: usize = 0; at < bytes; at += 16) {
      const away = f32x4.sub(v128.load(from + at), middle)
      squares = f32x4.add(squares, f32x4.mul(away, away))
    }
    const factor = f32x4.splat(1 / sqrt<f32>(sumOf(squares) / <f32>columns + epsilon))
    for (let at: usize = 0; at < bytes; at += 16) {
      const normal = f32x4.mul(f32x4.sub(v128.load(from + at), middle), factor)
      v128.store(to + at, f32x4.add(f32x4.mul(normal, v128.load(factors + at)), v128.load(bias + at)))
    }
    from += bytes
    to += bytes
  }
}

/**
 * Writes the product of two matrices: result[i][j] = max(floor, a[i] . b[j] * aScales[i] * bScales[j] + bias[j]). The
 * sums must fit into 32 bits, so the length of a row of a times that of a column of b must be below 2 ** 31.
 *
 * @param a byte offset of the first matrix, i16, row by row
 * @param b byte offset of the second matrix, i16, in panels of eight columns: the first two numbers of each of the
 *   eight columns, then the next two, and so on
 * @param result byte offset of f32
 * @param stride bytes from the start of a row of the result to that of the next
 * @param aScales byte offset of f32, one for each row of a
 * @param bScales byte offset of f32, one for each column of b
 * @param bias byte offset of f32, one for each column of b
 * @param rows of a, a multiple of 4
 * @param pairs half the length of a row of a
 * @param columns of b, a multiple of 8
 */
export function multiply (
  a: usize, b: usize, result: usize, stride: usize, aScales: usize, bScales: usize, bias: usize, rows: u32, pairs: u32,
  columns: u32, floor: f32,
): void {
  const aBytes: usize = <usize>pairs << 2
  const bBytes: usize = <usize>pairs << 5
  const minimum = f32x4.splat(floor)
  for (let column: u32 = 0; column < columns; column += 8) {
    let row0 = a
    let scales = aScales
    let out = result
    for (let row: u32 = 0; row < rows; row += 4) {
      const row1 = row0 + aBytes
      const row2 = row1 + aBytes
      const row3 = row2 + aBytes
      // Eight accumulators of four columns each: as many as fit into the registers beside the operands.
      let sum00 = i32x4.splat(0)
      let sum01 = i32x4.splat(0)
      let sum10 = i32x4.splat(0)
      let sum11 = i32x4.splat(0)
      let sum20 = i32x4.splat(0)
      let sum21 = i32x4.splat(0)
      let sum30 = i32x4.splat(0)
      let sum31 = i32x4.splat(0)
      let panel = b
      for (let at: usize = 0; at < aBytes; at += 4) {
        const b0 = v128.load(panel)
        const b1 = v128.load(panel, 16)
        panel += 32
        const a0 = v128.load32_splat(row0 + at)
        sum00 = i32x4.add(sum00, i32x4.dot_i16x8_s(a0, b0))
        sum01 = i32x4.add(sum01, i32x4.dot_i16x8_s(a0, b1))
        const a1 = v128.load32_splat(row1 + at)
        sum10 = i32x4.add(sum10, i32x4.dot_i16x8_s(a1, b0))
        sum11 = i32x4.add(sum11, i32x4.dot_i16x8_s(a1, b1))
        const a2 = v128.load32_splat(row2 + at)
        sum20 = i32x4.add(sum20, i32x4.dot_i16x8_s(a2, b0))
        sum21 = i32x4.add(sum21, i32x4.dot_i16x8_s(a2, b1))
        const a3 = v128.load32_splat(row3 + at)
        sum30 = i32x4.add(sum30, i32x4.dot_i16x8_s(a3, b0))
        sum31 = i32x4.add(sum31, i32x4.dot_i16x8_s(a3, b1))
      }
      const scale0 = v128.load(bScales)
      const scale1 = v128.load(bScales, 16)
      const bias0 = v128.load(bias)
      const bias1 = v128.load(bias, 16)
      let to = out
      storeScaled(to, sum00, sum01, v128.load32_splat(scales), scale0, scale1, bias0, bias1, minimum)
      to += stride
      storeScaled(to, sum10, sum11, v128.load32_splat(scales, 4), scale0, scale1, bias0, bias1, minimum)
      to += stride
      storeScaled(to, sum20, sum21, v128.load32_splat(scales, 8), scale0, scale1, bias0, bias1, minimum)
      to += stride
      storeScaled(to, sum30, sum31, v128.load32_splat(scales, 12), scale0, scale1, bias0, bias1, minimum)
      out = to + stride
      row0 = row3 + aBytes
      scales += 16
    }
    b += bBytes
    result += 32
    bScales += 32
    bias += 32
  }
}

/**
 * Multiplies eight floats by their factors and rounds them to the nearest integers. Adding 1.5 * 2 ** 23 rounds,
 * because floats of that size have no fraction.
 */
// @ts-ignore: decorator
@inline
function narrow (low: v128, high: v128, lowFactor: v128, highFactor: v128): v128 {
  const whole = f32x4.splat(12582912)
  return i16x8.narrow_i32x4_s(i32x4.sub(f32x4.add(f32x4.mul(low, lowFactor), whole), whole),
    i32x4.sub(f32x4.add(f32x4.mul(high, highFactor), whole), whole))
}

// @ts-ignore: decorator
@inline
function sumOf (four: v128): f32 {
  return f32x4.extract_lane(four, 0) + f32x4.extract_lane(four, 1) +
    (f32x4.extract_lane(four, 2) + f32x4.extract_lane(four, 3))
}

// @ts-ignore: decorator
@inline
function storeScaled (
  to: usize, low: v128, high: v128, scale: v128, scale0: v128, scale1: v128, bias0: v128, bias1: v128, minimum: v128,
): void {
  v128.store(to, f32x4.max(minimum, f32x4.add(bias0, f32x4.mul(f32x4.convert_i32x4_s(low), f32x4.mul(scale, scale0)))))
  v128.store(
    to, f32x4.max(minimum, f32x4.add(bias1, f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.mul(scale, scale1)))), 16,
  )
}
