/**
 * The inner loops of the sentence encoder, in AssemblyScript: products of matrices of 16-bit integers, eight products to an
 * instruction (WebAssembly SIMD), which is twice as many as of 32-bit floats. lib/models/local/use-matrices.mjs owns the memory that
 * this module imports.
 *
 * Build: npm run build:wasm. No allocation, no runtime: the module is these two functions.
 */

/**
 * Rounds rows of floats to integers, each row by a scale of its own: as large as `limit` allows for the row's length and 16 bits
 * for its largest number.
 *
 * @param from byte offset of rows * columns f32
 * @param to byte offset of rows * columns i16
 * @param scales byte offset of rows f32: what an integer of the row is worth
 * @param columns a multiple of 8
 * @param limit Euclidean length of a row of integers at most, but for the rounding
 */
export function round (from: usize, to: usize, scales: usize, rows: u32, columns: u32, limit: f32): void {
  const bytes: usize = <usize>columns << 2
  for (let row: u32 = 0; row < rows; row++) {
    let squares = f32x4.splat(0)
    let largest = f32x4.splat(0)
    for (let at: usize = 0; at < bytes; at += 16) {
      const four = v128.load(from + at)
      squares = f32x4.add(squares, f32x4.mul(four, four))
      largest = f32x4.max(largest, f32x4.abs(four))
    }
    const length = sqrt<f32>(f32x4.extract_lane(squares, 0) + f32x4.extract_lane(squares, 1) +
      (f32x4.extract_lane(squares, 2) + f32x4.extract_lane(squares, 3)))
    const most = max<f32>(max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
      max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)))
    const scale: f32 = length > 1e-30 ? min<f32>(limit / length, <f32>32767 / most) : 0
    store<f32>(scales, scale > 0 ? 1 / scale : 0)
    scales += 4
    const factor = f32x4.splat(scale)
    for (let at: usize = 0; at < bytes; at += 32) {
      const low = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(from + at), factor)))
      const high = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(from + at, 16), factor)))
      v128.store(to, i16x8.narrow_i32x4_s(low, high))
      to += 16
    }
    from += bytes
  }
}

/**
 * Writes the product of two matrices: result[i][j] = max(floor, a[i] . b[j] * aScales[i] * bScales[j] + bias[j]).
 * No sum may leave 32 bits: the lengths of a row of a and a column of b, multiplied, must stay below 2 ** 31.
 *
 * @param a byte offset of the first matrix, i16, row by row
 * @param b byte offset of the second matrix, i16, eight columns by eight: the first two numbers of each of the eight, the next two, …
 * @param result byte offset of rows * columns f32
 * @param aScales byte offset of f32, one for each row of a
 * @param bScales byte offset of f32, one for each column of b
 * @param bias byte offset of f32, one for each column of b
 * @param rows of a, a multiple of 4
 * @param pairs half the length of a row of a
 * @param columns of b, a multiple of 8
 */
export function multiply (a: usize, b: usize, result: usize, aScales: usize, bScales: usize, bias: usize, rows: u32, pairs: u32, columns: u32, floor: f32): void {
  const aBytes: usize = <usize>pairs << 2
  const bBytes: usize = <usize>pairs << 5
  const resultBytes: usize = <usize>columns << 2
  const least = f32x4.splat(floor)
  for (let column: u32 = 0; column < columns; column += 8) {
    let row0 = a
    let scales = aScales
    let out = result
    for (let row: u32 = 0; row < rows; row += 4) {
      const row1 = row0 + aBytes
      const row2 = row1 + aBytes
      const row3 = row2 + aBytes
      // Eight sums of four columns each: as many as the registers hold beside what is multiplied.
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
      put(to, sum00, sum01, v128.load32_splat(scales), scale0, scale1, bias0, bias1, least)
      to += resultBytes
      put(to, sum10, sum11, v128.load32_splat(scales, 4), scale0, scale1, bias0, bias1, least)
      to += resultBytes
      put(to, sum20, sum21, v128.load32_splat(scales, 8), scale0, scale1, bias0, bias1, least)
      to += resultBytes
      put(to, sum30, sum31, v128.load32_splat(scales, 12), scale0, scale1, bias0, bias1, least)
      out = to + resultBytes
      row0 = row3 + aBytes
      scales += 16
    }
    b += bBytes
    result += 32
    bScales += 32
    bias += 32
  }
}

// @ts-ignore: decorator
@inline
function put (to: usize, low: v128, high: v128, scale: v128, scale0: v128, scale1: v128, bias0: v128, bias1: v128, least: v128): void {
  v128.store(to, f32x4.max(least, f32x4.add(bias0, f32x4.mul(f32x4.convert_i32x4_s(low), f32x4.mul(scale, scale0)))))
  v128.store(to, f32x4.max(least, f32x4.add(bias1, f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.mul(scale, scale1)))), 16)
}
