// The Universal Sentence Encoder "lite" (Cer et al. 2018): two layers of a transformer (Vaswani et al. 2017), the mean of what they
// make of a text's pieces, and a last layer over it.
import { COLUMN_STEP, Matrices, roundUp, setColumns, setRows } from './use-matrices.mjs'

/** @typedef {import('./use-matrices.mjs').Columns} Columns */
/** @typedef {(name: string, length: number) => Float32Array} Weight */
/** @typedef {{ scale: Float32Array, bias: Float32Array }} Norm */

/** Pieces of a text that the model looks at. */
export const MAX_PIECES = 128
const EMBEDDED = 256
const WIDTH = 512
const HIDDEN = 1536
const HEADS = 4
const EPSILON = 1e-6
/** What all weights and intermediate results take; less than a megabyte of it stays free. */
const MEMORY_BYTES = 15e6

/** @param {Weight} weight @returns {(pieces: readonly number[]) => Float32Array} a vector of unit length */
export function makeEncoder (weight) {
  const matrices = new Matrices(MEMORY_BYTES)
  const embeddings = weight('Embeddings_en', 8002 * EMBEDDED)
  const frequencies = weight('Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1', EMBEDDED / 2)
  const room = makeRoom(matrices)
  const widen = linear('Layer_0/dense/kernel', 'Layer_0/dense/bias', EMBEDDED, WIDTH)
  const layers = [layer(0, EMBEDDED), layer(1, WIDTH)]
  const last = linear('hidden_layers/tanh_layer_0/weights', 'hidden_layers/tanh_layer_0/bias', WIDTH, WIDTH)

  function linear (kernel, bias, rows, columns) {
    const made = matrices.columns(rows, columns)
    setColumns(made, weight(kernel, rows * columns), { rows, columns })
    made.bias.set(weight(bias, columns))
    return made
  }

  function norm (name, width) {
    return { scale: weight(`${name}/layer_norm_scale`, width), bias: weight(`${name}/layer_norm_bias`, width) }
  }

  function layer (number, width) {
    const name = `Layer_${number}`
    const attention = `${name}/MultiheadAttention`
    return {
      width,
      attentionNorm: norm(`${name}/layer_prepostprocess/layer_norm`, width),
      parts: linear(`${attention}/qkv_transform_single/kernel`, `${attention}/qkv_transform_single/bias`, width, 3 * width),
      out: linear(`${attention}/output_transform_single/kernel`, `${attention}/output_transform_single/bias`, width, WIDTH),
      feedNorm: norm(`${name}/FFN/layer_prepostprocess/layer_norm`, WIDTH),
      grow: linear(`${name}/FFN/conv1`, `${name}/FFN/conv1/bias`, WIDTH, HIDDEN),
      shrink: linear(`${name}/FFN/conv2`, `${name}/FFN/conv2/bias`, HIDDEN, WIDTH),
    }
  }

  function product (from, right, to, rows, inner, columns, floor) {
    matrices.round(from, room.left, rows, inner)
    matrices.multiply(room.left, right, to, rows, inner, columns, floor)
  }

  /** @param {readonly number[]} pieces */
  function embed (pieces) {
    for (const [place, id] of pieces.entries()) {
      for (let index = 0; index < EMBEDDED; index++) {
        const angle = place * frequencies[index % (EMBEDDED / 2)]
        // The model has the embedding twice and the place once.
        room.state[place * EMBEDDED + index] = 2 * embeddings[id * EMBEDDED + index] + (index < EMBEDDED / 2 ? Math.sin(angle) : Math.cos(angle))
      }
    }
  }

  /** What the pieces see of each other: `room.parts`, a third each queries, keys and values, to `room.seen`. */
  function attend (count, width) {
    const size = width / HEADS
    const columns = roundUp(count, COLUMN_STEP)
    for (let head = 0; head < HEADS; head++) {
      copyHead(room.parts, room.head, { count, size, start: head * size, stride: 3 * width, factor: 1 / Math.sqrt(size) })
      matrices.round(room.head, room.left, count, size)
      copyHead(room.parts, room.head, { count, size, start: width + head * size, stride: 3 * width, factor: 1 })
      matrices.round(room.head, room.rows, count, size, true)
      setRows(room.keys, room.rows, count, size)
      matrices.multiply(room.left, room.keys, room.shares, count, size, columns)
      softmax(room.shares, count, columns)
      setColumns(room.values, room.parts, { rows: count, columns: size, start: 2 * width + head * size, stride: 3 * width, wholeRows: columns })
      product(room.shares, room.values, room.head, count, columns, size)
      for (let row = 0; row < count; row++) room.seen.set(room.head.subarray(row * size, (row + 1) * size), row * width + head * size)
    }
  }

  return function encode (pieces) {
    const count = Math.min(pieces.length, MAX_PIECES)
    embed(pieces.slice(0, count))
    for (const { width, attentionNorm, parts, out, feedNorm, grow, shrink } of layers) {
      normalize(room.state, room.normal, count, attentionNorm)
      product(room.normal, parts, room.parts, count, width, 3 * width)
      attend(count, width)
      if (width !== WIDTH) {
        product(room.state, widen, room.made, count, width, WIDTH)
        room.state.set(room.made)
      }
      product(room.seen, out, room.made, count, width, WIDTH)
      add(room.state, room.made, count * WIDTH)
      normalize(room.state, room.normal, count, feedNorm)
      product(room.normal, grow, room.hidden, count, WIDTH, HIDDEN, 0)
      product(room.hidden, shrink, room.made, count, HIDDEN, WIDTH)
      add(room.state, room.made, count * WIDTH)
    }
    mean(room.state, room.normal, count)
    product(room.normal, last, room.made, 1, WIDTH, WIDTH)
    return toUnit(room.made.slice(0, WIDTH).map(Math.tanh))
  }
}

/** @param {Matrices} matrices */
function makeRoom (matrices) {
  return {
    state: matrices.floats(MAX_PIECES * WIDTH),
    normal: matrices.floats(MAX_PIECES * WIDTH),
    parts: matrices.floats(MAX_PIECES * 3 * WIDTH),
    seen: matrices.floats(MAX_PIECES * WIDTH),
    made: matrices.floats(MAX_PIECES * WIDTH),
    hidden: matrices.floats(MAX_PIECES * HIDDEN),
    head: matrices.floats(MAX_PIECES * WIDTH / HEADS),
    shares: matrices.floats(MAX_PIECES * MAX_PIECES),
    left: matrices.rounded(MAX_PIECES, HIDDEN),
    rows: matrices.rounded(MAX_PIECES, WIDTH / HEADS),
    keys: matrices.columns(WIDTH / HEADS, MAX_PIECES),
    values: matrices.columns(MAX_PIECES, WIDTH / HEADS),
  }
}

/** Each row to a mean of 0 and a variance of 1, then by scale and bias. @param {Norm} norm */
function normalize (from, to, rows, { scale, bias }) {
  const width = scale.length
  for (let row = 0; row < rows; row++) {
    const start = row * width
    let sum = 0
    for (let index = 0; index < width; index++) sum += from[start + index]
    const middle = sum / width
    let squares = 0
    for (let index = 0; index < width; index++) squares += (from[start + index] - middle) ** 2
    const factor = 1 / Math.sqrt(squares / width + EPSILON)
    for (let index = 0; index < width; index++) to[start + index] = (from[start + index] - middle) * factor * scale[index] + bias[index]
  }
}

function copyHead (from, to, { count, size, start, stride, factor }) {
  for (let row = 0; row < count; row++) {
    for (let index = 0; index < size; index++) to[row * size + index] = from[start + row * stride + index] * factor
  }
}

/** Over the first `count` numbers of each of `count` rows; the others become 0. */
function softmax (values, count, columns) {
  for (let row = 0; row < count; row++) {
    const start = row * columns
    let largest = -Infinity
    for (let index = start; index < start + count; index++) largest = Math.max(largest, values[index])
    let sum = 0
    for (let index = start; index < start + count; index++) sum += values[index] = Math.exp(values[index] - largest)
    for (let index = start; index < start + count; index++) values[index] /= sum
    values.fill(0, start + count, start + columns)
  }
}

function add (to, what, length) {
  for (let index = 0; index < length; index++) to[index] += what[index]
}

function mean (from, to, rows) {
  to.fill(0, 0, WIDTH)
  for (let row = 0; row < rows; row++) {
    for (let index = 0; index < WIDTH; index++) to[index] += from[row * WIDTH + index] / rows
  }
}

/** @param {Float32Array} vector */
function toUnit (vector) {
  const length = Math.hypot(...vector)
  if (!Number.isFinite(length) || length === 0) throw new Error('the model gave no vector for a text')
  return vector.map((value) => value / length)
}
