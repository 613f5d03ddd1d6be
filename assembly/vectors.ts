/**
 * The inner loop of the in-memory vector store, in AssemblyScript: dot products of one query with many rows. An
 * instruction of WebAssembly SIMD multiplies four floats. V8 does not vectorize the same loop in JavaScript, which is
 * about ten times slower. lib/stores/in-memory/vector-arena.ts owns the memory that this module imports.
 *
 * `npm run build:wasm` compiles it. The module consists of this function only: it has no allocator and no runtime.
 */

/**
 * Writes `count` f32 scores, one for each row: score[i] = query . row[i].
 *
 * @param query byte offset of the query, `stride` bytes
 * @param rows byte offset of the first row; row i starts at rows + i * stride
 * @param count number of rows
 * @param stride bytes in a row, a multiple of 16; the query and the rows are padded with zeros to it
 * @param scores byte offset of the output, 4 * count bytes, which must overlap neither the query nor the rows
 */
export function dotProducts (query: usize, rows: usize, count: u32, stride: usize, scores: usize): void {
  // Four independent sums, because a single one would be limited by the latency of the addition.
  const unrolled: usize = stride & ~63
  let row = rows
  for (let i: u32 = 0; i < count; i++) {
    let a = f32x4.splat(0)
    let b = f32x4.splat(0)
    let c = f32x4.splat(0)
    let d = f32x4.splat(0)
    let at: usize = 0
    for (; at < unrolled; at += 64) {
      a = f32x4.add(a, f32x4.mul(v128.load(query + at), v128.load(row + at)))
      b = f32x4.add(b, f32x4.mul(v128.load(query + at, 16), v128.load(row + at, 16)))
      c = f32x4.add(c, f32x4.mul(v128.load(query + at, 32), v128.load(row + at, 32)))
      d = f32x4.add(d, f32x4.mul(v128.load(query + at, 48), v128.load(row + at, 48)))
    }
    for (; at < stride; at += 16) {
      a = f32x4.add(a, f32x4.mul(v128.load(query + at), v128.load(row + at)))
    }
    const sum = f32x4.add(f32x4.add(a, b), f32x4.add(c, d))
    store<f32>(scores, f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1) +
      (f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3)))
    scores += 4
    row += stride
  }
}
