// The Universal Sentence Encoder "lite" (Cer et al. 2018): two layers of a transformer (Vaswani et al. 2017), the mean
// of what they make of a text's pieces, and a last layer over it.
import { COLUMN_STEP, Matrices, roundUp, setRows } from './use-matrices.mjs'

/** @typedef {import('./use-matrices.mjs').Columns} Columns */
/** @typedef {(name: string, length: number) => Float32Array} Weight */

/** Pieces of a text that the model looks at. */
export const MAX_PIECES = 128
const EMBEDDED = 256
const WIDTH = 512
const HIDDEN = 1536
const HEADS = 4
const EPSILON = 1e-6
/** What all weights and intermediate results take; less than a megabyte of it stays free. */
const MEMORY_BYTES = 18e6

/** @param {Weight} weight @returns {(pieces: readonly number[]) => Float32Array} a vector of unit length */
export function makeEncoder (weight) {
  const matrices = new Matrices(MEMORY_BYTES)
  const embeddings = weight('Embeddings_en', 8002 * EMBEDDED)
  const places = makePlaces(weight('Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1', EMBEDDED / 2))
  const room = makeRoom(matrices)
  const widen = linear('Layer_0/dense/kernel', 'Layer_0/dense/bias', EMBEDDED, WIDTH)
  const layers = [layer(0, EMBEDDED), layer(1, WIDTH)]
  const last = linear('hidden_layers/tanh_layer_0/weights', 'hidden_layers/tanh_layer_0/bias', WIDTH, WIDTH)

  function linear (kernel, bias, rows, columns) {
    const made = matrices.columns(rows, columns)
    // The weights come through the memory in which the module computes.
    room.weights.set(weight(kernel, rows * columns))
    matrices.roundColumns(room.weights, made, rows, columns)
    made.bias.set(weight(bias, columns))
    return made
  }

  function norm (name, width) {
    const [scale, bias] = [matrices.floats(width), matrices.floats(width)]
    scale.set(weight(`${name}/layer_norm_scale`, width))
    bias.set(weight(`${name}/layer_norm_bias`, width))
    return { scale, bias }
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

  function product (from, right, to, rows, inner, columns, where) {
    matrices.round(from, room.left, rows, inner)
    matrices.multiply(room.left, right, to, rows, inner, columns, where)
  }

  /** @param {readonly number[]} pieces */
  function embed (pieces) {
    for (const [place, id] of pieces.entries()) {
      // The model has the embedding twice and the place once.
      for (let index = 0; index < EMBEDDED; index++) {
        room.state[place * EMBEDDED + index] = 2 * embeddings[id * EMBEDDED + index] + places[place * EMBEDDED + index]
      }
    }
  }

  /** What the pieces see of each other: `room.parts`, a third each queries, keys and values, to `room.seen`. */
  function attend (count, width) {
    const size = width / HEADS
    const stride = 3 * width
    const columns = roundUp(count, COLUMN_STEP)
    for (let start = 0; start < width; start += size) {
      matrices.round(room.parts, room.left, count, size, { start, stride })
      matrices.round(room.parts, room.rows, count, size, { start: start + width, stride, asColumns: true })
      setRows(room.keys, room.rows, count, size)
      matrices.multiply(room.left, room.keys, room.shares, count, size, columns)
      softmax(room.shares, count, columns, 1 / Math.sqrt(size))
      matrices.roundColumns(room.parts, room.values, count, size, { start: start + 2 * width, stride, wholeRows: columns })
      product(room.shares, room.values, room.seen, count, columns, size, { start, stride: width })
    }
  }

  return function encode (pieces) {
    const count = Math.min(pieces.length, MAX_PIECES)
    embed(pieces.slice(0, count))
    for (const [index, { width, attentionNorm, parts, out, feedNorm, grow, shrink }] of layers.entries()) {
      matrices.normalize(room.state, room.normal, count, attentionNorm, EPSILON)
      product(room.normal, parts, room.parts, count, width, 3 * width)
      attend(count, width)
      if (width !== WIDTH) {
        product(room.state, widen, room.made, count, width, WIDTH)
        room.state.set(room.made)
      }
      product(room.seen, out, room.made, count, width, WIDTH)
      matrices.add(room.state, room.made, count * WIDTH)
      matrices.normalize(room.state, room.normal, count, feedNorm, EPSILON)
      product(room.normal, grow, room.hidden, count, WIDTH, HIDDEN, { floor: 0 })
      let rows = count
      if (index === layers.length - 1) {
        // Of what the last product makes only the mean is wanted, and that of its results is the result of the mean.
        matrices.mean(room.state, count, WIDTH)
        matrices.mean(room.hidden, count, HIDDEN)
        rows = 1
      }
      product(room.hidden, shrink, room.made, rows, HIDDEN, WIDTH)
      matrices.add(room.state, room.made, rows * WIDTH)
    }
    product(room.state, last, room.made, 1, WIDTH, WIDTH)
    return toUnit(room.made.slice(0, WIDTH).map(Math.tanh))
  }
}

/** @param {Matrices} matrices */
function makeRoom (matrices) {
  return {
    weights: matrices.floats(HIDDEN * WIDTH),
    state: matrices.floats(MAX_PIECES * WIDTH),
    normal: matrices.floats(MAX_PIECES * WIDTH),
    parts: matrices.floats(MAX_PIECES * 3 * WIDTH),
    seen: matrices.floats(MAX_PIECES * WIDTH),
    made: matrices.floats(MAX_PIECES * WIDTH),
    hidden: matrices.floats(MAX_PIECES * HIDDEN),
    shares: matrices.floats(MAX_PIECES * MAX_PIECES),
    left: matrices.rounded(MAX_PIECES, HIDDEN),
    rows: matrices.rounded(MAX_PIECES, WIDTH / HEADS),
    keys: matrices.columns(WIDTH / HEADS, MAX_PIECES),
    values: matrices.columns(MAX_PIECES, WIDTH / HEADS),
  }
}

/** What stands for each place in a text. @param {Float32Array} frequencies */
function makePlaces (frequencies) {
  const places = new Float32Array(MAX_PIECES * EMBEDDED)
  for (let index = 0; index < places.length; index++) {
    const angle = Math.floor(index / EMBEDDED) * frequencies[index % frequencies.length]
    places[index] = index % EMBEDDED < frequencies.length ? Math.sin(angle) : Math.cos(angle)
  }
  return places
}

/** Over the first `count` numbers, times `factor`, of each of `count` rows; the others become 0. */
function softmax (values, count, columns, factor) {
  for (let row = 0; row < count; row++) {
    const start = row * columns
    let largest = -Infinity
    for (let index = start; index < start + count; index++) largest = Math.max(largest, values[index])
    let sum = 0
    for (let index = start; index < start + count; index++) sum += values[index] = Math.exp((values[index] - largest) * factor)
    for (let index = start; index < start + count; index++) values[index] /= sum
    values.fill(0, start + count, start + columns)
  }
}

/** @param {Float32Array} vector */
function toUnit (vector) {
  const length = Math.hypot(...vector)
  if (!Number.isFinite(length) || length === 0) throw new Error('the model gave no vector for a text')
  return vector.map((value) => value / length)
}
