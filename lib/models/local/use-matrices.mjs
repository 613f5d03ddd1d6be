// Products of matrices for the sentence encoder: the module of assembly/matrices.ts and its memory. use-model.mjs
// computes with it.
import { readFileSync } from 'node:fs'

const PAGE_BYTES = 65_536
/**
 * Maximum Euclidean length of a column and of a row of integers. Their product bounds every sum of a product (the
 * Cauchy–Schwarz inequality), and even with rounding errors it is below 2 ** 31.
 */
const COLUMN_LENGTH = 32_000
const ROW_LENGTH = 65_000

/** The rows and columns of products are padded to multiples of these; the padding is computed but never read. */
const ROW_STEP = 4
export const COLUMN_STEP = 8

/** @param {number} count @param {number} step */
export function roundUp (count, step) {
  return Math.ceil(count / step) * step
}

/**
 * Numbers as integers with a scale for each row or column.
 * @typedef {{ integers: Int16Array, scales: Float32Array }} Rounded The right side of a product: in blocks of eight
 *   columns, and in each block two rows at a time. `bias` is added to the product.
 * @typedef {Rounded & { bias: Float32Array }} Columns
 */

export class Matrices {
  #memory
  #module
  #end = 0

  /** @param {number} bytes of all allocations together */
  constructor (bytes) {
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) })
    const module = new WebAssembly.Module(readFileSync(new URL('./matrices.wasm', import.meta.url)))
    this.#module = new WebAssembly.Instance(module, { env: { memory: this.#memory } }).exports
  }

  /** @param {number} length @returns memory that is never freed, filled with zeros */
  floats (length) {
    return new Float32Array(this.#memory.buffer, this.#take(length * 4), length)
  }

  /** @param {number} rows @param {number} columns @returns {Rounded} */
  rounded (rows, columns) {
    const all = roundUp(rows, ROW_STEP)
    return { integers: this.#integers(all * columns), scales: this.floats(all) }
  }

  /** @param {number} rows even @param {number} columns a multiple of COLUMN_STEP @returns {Columns} */
  columns (rows, columns) {
    return { integers: this.#integers(rows * columns), scales: this.floats(columns), bias: this.floats(columns) }
  }

  /**
   * Rounds rows: for the left side of a product, or `asColumns` for setRows().
   * @param {Float32Array} from
   * @param {Rounded} to
   * @param {number} rows
   * @param {number} columns a multiple of COLUMN_STEP
   * @param {{ start?: number, stride?: number, asColumns?: boolean }} [where] in `from`: the index of the first number,
   *   and the numbers from the start of one row to that of the next
   */
  round (from, to, rows, columns, { start = 0, stride = columns, asColumns = false } = {}) {
    const limit = asColumns ? COLUMN_LENGTH : ROW_LENGTH
    this.#module.round(
      from.byteOffset + start * 4, stride * 4, to.integers.byteOffset, to.scales.byteOffset, rows, columns, limit
    )
  }

  /**
   * Rounds a matrix for the right side of products.
   * @param {Float32Array} from
   * @param {Columns} to
   * @param {number} rows
   * @param {number} columns a multiple of COLUMN_STEP
   * @param {{ start?: number, stride?: number, wholeRows?: number }} [where] as with round(); rows from `rows` to
   *   `wholeRows`, which is even, become zeros
   */
  roundColumns (from, to, rows, columns, { start = 0, stride = columns, wholeRows = rows } = {}) {
    this.#module.roundColumns(
      from.byteOffset + start * 4, stride * 4, to.integers.byteOffset, to.scales.byteOffset,
      rows, wholeRows, columns, COLUMN_LENGTH
    )
  }

  /**
   * to[i] += what[i]
   * @param {Float32Array} to
   * @param {Float32Array} what
   * @param {number} length a multiple of 4
   */
  add (to, what, length) {
    this.#module.add(to.byteOffset, what.byteOffset, length * 4)
  }

  /**
   * Replaces the first row with the mean of the rows.
   * @param {Float32Array} values
   * @param {number} rows
   * @param {number} columns a multiple of 4
   */
  mean (values, rows, columns) {
    this.#module.mean(values.byteOffset, rows, columns)
  }

  /**
   * Normalizes each row to a mean of 0 and a variance of 1, then multiplies by `scale` and adds `bias`.
   * @param {Float32Array} from
   * @param {Float32Array} to
   * @param {number} rows
   * @param {{ scale: Float32Array, bias: Float32Array }} norm made by floats(), with as many numbers as a row
   * @param {number} least added to the variance
   */
  normalize (from, to, rows, { scale, bias }, least) {
    this.#module.normalize(from.byteOffset, to.byteOffset, scale.byteOffset, bias.byteOffset, rows, scale.length, least)
  }

  /**
   * result = max(floor, left . right + bias)
   * @param {Rounded} left
   * @param {Columns} right
   * @param {Float32Array} result
   * @param {number} rows
   * @param {number} inner how many numbers a row of the left side has; even
   * @param {number} columns a multiple of COLUMN_STEP
   * @param {{ floor?: number, start?: number, stride?: number }} [where] in `result`, as with round()
   */
  multiply (left, right, result, rows, inner, columns, { floor = -Infinity, start = 0, stride = columns } = {}) {
    this.#module.multiply(
      left.integers.byteOffset, right.integers.byteOffset, result.byteOffset + start * 4, stride * 4,
      left.scales.byteOffset, right.scales.byteOffset, right.bias.byteOffset,
      roundUp(rows, ROW_STEP), inner / 2, columns, floor
    )
  }

  /** @param {number} length */
  #integers (length) {
    return new Int16Array(this.#memory.buffer, this.#take(length * 2), length)
  }

  /** @param {number} bytes */
  #take (bytes) {
    const offset = this.#end
    // Aligned to the width of a register, so that no load crosses a cache line.
    this.#end += roundUp(bytes, 16)
    if (this.#end > this.#memory.buffer.byteLength) throw new Error('the encoder takes more memory than it asked for')
    return offset
  }
}

/**
 * Writes rounded rows as columns, which transposes the matrix.
 * @param {Columns} to
 * @param {Rounded} from
 * @param {number} rows
 * @param {number} columns of `from`, even
 */
export function setRows (to, from, rows, columns) {
  const pairs = columns / 2
  const source = new Int32Array(from.integers.buffer, from.integers.byteOffset, rows * pairs)
  const target = new Int32Array(to.integers.buffer, to.integers.byteOffset, roundUp(rows, COLUMN_STEP) * pairs)
  for (let row = 0, at = 0; row < rows; row++) {
    to.scales[row] = from.scales[row]
    let place = (row & -COLUMN_STEP) * pairs + (row & (COLUMN_STEP - 1))
    for (let pair = 0; pair < pairs; pair++, at++, place += COLUMN_STEP) target[place] = source[at]
  }
}
