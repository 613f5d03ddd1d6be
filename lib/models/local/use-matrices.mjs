// Products of matrices for the sentence encoder: the module of assembly/matrices.ts and its memory. use-model.mjs computes with it.
import { readFileSync } from 'node:fs'

const PAGE_BYTES = 65_536
/**
 * How long a column and a row of integers may be. Their product is the largest sum that there can be (Cauchy and Schwarz), and
 * with what the rounding adds it is still below 2 ** 31.
 */
const COLUMN_LENGTH = 32_000
const ROW_LENGTH = 65_000
const LARGEST = 32_767

/** The products' rows and columns come in such numbers; what is beyond the text's own is computed and not read. */
const ROW_STEP = 4
export const COLUMN_STEP = 8

/** @param {number} count @param {number} step */
export function roundUp (count, step) {
  return Math.ceil(count / step) * step
}

/**
 * Numbers as integers with a scale for each row or column.
 * @typedef {{ integers: Int16Array, scales: Float32Array }} Rounded
 * The right side of a product: by columns, eight by eight, and in them two rows by two. `bias` is added to the product.
 * @typedef {Rounded & { bias: Float32Array }} Columns
 */

export class Matrices {
  #memory
  #module
  #end = 0

  /** @param {number} bytes that will be taken in all */
  constructor (bytes) {
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) })
    const module = new WebAssembly.Module(readFileSync(new URL('./matrices.wasm', import.meta.url)))
    this.#module = new WebAssembly.Instance(module, { env: { memory: this.#memory } }).exports
  }

  /** @param {number} length @returns room for good, filled with zeros */
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
   */
  round (from, to, rows, columns, asColumns = false) {
    this.#module.round(from.byteOffset, to.integers.byteOffset, to.scales.byteOffset, rows, columns, asColumns ? COLUMN_LENGTH : ROW_LENGTH)
  }

  /**
   * result = max(floor, left . right + bias)
   * @param {Rounded} left
   * @param {Columns} right
   * @param {Float32Array} result
   * @param {number} rows
   * @param {number} inner how many numbers a row of the left side has; even
   * @param {number} columns a multiple of COLUMN_STEP
   */
  multiply (left, right, result, rows, inner, columns, floor = -Infinity) {
    this.#module.multiply(left.integers.byteOffset, right.integers.byteOffset, result.byteOffset, left.scales.byteOffset,
      right.scales.byteOffset, right.bias.byteOffset, roundUp(rows, ROW_STEP), inner / 2, columns, floor)
  }

  /** @param {number} length */
  #integers (length) {
    return new Int16Array(this.#memory.buffer, this.#take(length * 2), length)
  }

  /** @param {number} bytes */
  #take (bytes) {
    const offset = this.#end
    // At the width of a register, so that no load lies across two lines of the cache.
    this.#end += roundUp(bytes, 16)
    if (this.#end > this.#memory.buffer.byteLength) throw new Error('the encoder takes more memory than it asked for')
    return offset
  }
}

/**
 * Writes a matrix as the right side of products.
 * @param {Columns} to
 * @param {Float32Array} from
 * @param {{ rows: number, columns: number, start?: number, stride?: number, wholeRows?: number }} shape where the matrix lies in
 * `from`: its first number, and how many numbers there are from one row to the next; rows beyond its own up to `wholeRows`, which is
 * even, become zeros
 */
export function setColumns (to, from, { rows, columns, start = 0, stride = columns, wholeRows = rows }) {
  const { integers, scales } = to
  for (let column = 0; column < columns; column++) {
    let squares = 0
    let largest = 0
    for (let row = 0, at = start + column; row < rows; row++, at += stride) {
      const value = from[at]
      squares += value * value
      largest = Math.max(largest, Math.abs(value))
    }
    const scale = squares > 0 ? Math.min(COLUMN_LENGTH / Math.sqrt(squares), LARGEST / largest) : 0
    scales[column] = scale > 0 ? 1 / scale : 0
    const place = (column & -COLUMN_STEP) * wholeRows + (column & (COLUMN_STEP - 1)) * 2
    for (let row = 0, at = start + column; row < wholeRows; row++, at += stride) {
      integers[place + (row >> 1) * 2 * COLUMN_STEP + (row & 1)] = row < rows ? Math.round(from[at] * scale) : 0
    }
  }
}

/**
 * Writes rounded rows as columns: the matrix on its side.
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
