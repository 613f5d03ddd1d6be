// The Universal Sentence Encoder "lite" (Cer et al. 2018): two layers of a transformer (Vaswani et al. 2017), the mean
// of their outputs for a text's pieces, and a final layer.
import { COLUMN_STEP, Matrices, roundUp, setRows } from './use-matrices.mjs'

/** @typedef {import('./use-matrices.mjs').Columns} Columns */
/** @typedef {(name: string, length: number) => Float32Array} Weight */

/** Maximum number of pieces of a text that the model reads. */
export const MAX_PIECES = 128
const EMBEDDED = 256
const WIDTH = 512
const HIDDEN = 1536
const HEADS = 4
const EPSILON = 1e-6
/** Memory of all weights and intermediate results, with less than a megabyte to spare. */
const MEMORY_BYTES = 18e6

/** @param {Weight} weight @returns {(pieces: readonly number[]) => Float32Array} a vector of unit length */
export function makeEncoder (weight) {
  const matrices = new Matrices(MEMORY_BYTES)
  const embeddings = weight('Embeddings_en', 8002 * EMBEDDED)
  const positions = makePositions(weight('Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1', EMBEDDED / 2))
  const buffers = makeBuffers(matrices)
  const project = linear('Layer_0/dense/kernel', 'Layer_0/dense/bias', EMBEDDED, WIDTH)
  const layers = [layer(0, EMBEDDED), layer(1, WIDTH)]
  const last = linear('hidden_layers/tanh_layer_0/weights', 'hidden_layers/tanh_layer_0/bias', WIDTH, WIDTH)

  function linear (kernel, bias, rows, columns) {
    const made = matrices.columns(rows, columns)
    // The module reads weights from its own memory only, so they are copied there first.
    buffers.weights.set(weight(kernel, rows * columns))
    matrices.roundColumns(buffers.weights, made, rows, columns)
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
      parts: linear(
        `${attention}/qkv_transform_single/kernel`, `${attention}/qkv_transform_single/bias`, width, 3 * width
      ),
      out: linear(
        `${attention}/output_transform_single/kernel`, `${attention}/output_transform_single/bias`, width, WIDTH
      ),
      feedNorm: norm(`${name}/FFN/layer_prepostprocess/layer_norm`, WIDTH),
      expand: linear(`${name}/FFN/conv1`, `${name}/FFN/conv1/bias`, WIDTH, HIDDEN),
      contract: linear(`${name}/FFN/conv2`, `${name}/FFN/conv2/bias`, HIDDEN, WIDTH),
    }
  }

  function product (from, right, to, rows, inner, columns, where) {
    matrices.round(from, buffers.left, rows, inner)
    matrices.multiply(buffers.left, right, to, rows, inner, columns, where)
  }

  /** @param {readonly number[]} pieces */
  function embed (pieces) {
    for (const [position, id] of pieces.entries()) {
      // The model adds the embedding twice and the position once.
      for (let index = 0; index < EMBEDDED; index++) {
        buffers.state[position * EMBEDDED + index] =
          2 * embeddings[id * EMBEDDED + index] + positions[position * EMBEDDED + index]
      }
    }
  }

  /** Multi-head attention: from `qkv`, a third each of queries, keys and values, to `attended`. */
  function attend (count, width) {
    const size = width / HEADS
    const stride = 3 * width
    const columns = roundUp(count, COLUMN_STEP)
    for (let start = 0; start < width; start += size) {
      matrices.round(buffers.qkv, buffers.left, count, size, { start, stride })
      matrices.round(buffers.qkv, buffers.rows, count, size, { start: start + width, stride, asColumns: true })
      setRows(buffers.keys, buffers.rows, count, size)
      matrices.multiply(buffers.left, buffers.keys, buffers.attentionWeights, count, size, columns)
      softmax(buffers.attentionWeights, count, columns, 1 / Math.sqrt(size))
      const at = { start, stride: width }
      const where = { start: start + 2 * width, stride, wholeRows: columns }
      matrices.roundColumns(buffers.qkv, buffers.values, count, size, where)
      product(buffers.attentionWeights, buffers.values, buffers.attended, count, columns, size, at)
    }
  }

  return function encode (pieces) {
    const count = Math.min(pieces.length, MAX_PIECES)
    embed(pieces.slice(0, count))
    for (const [index, { width, attentionNorm, parts, out, feedNorm, expand, contract }] of layers.entries()) {
      matrices.normalize(buffers.state, buffers.normalized, count, attentionNorm, EPSILON)
      product(buffers.normalized, parts, buffers.qkv, count, width, 3 * width)
      attend(count, width)
      if (width !== WIDTH) {
        product(buffers.state, project, buffers.output, count, width, WIDTH)
        buffers.state.set(buffers.output)
      }
      product(buffers.attended, out, buffers.output, count, width, WIDTH)
      matrices.add(buffers.state, buffers.output, count * WIDTH)
      matrices.normalize(buffers.state, buffers.normalized, count, feedNorm, EPSILON)
      product(buffers.normalized, expand, buffers.hidden, count, WIDTH, HIDDEN, { floor: 0 })
      let rows = count
      if (index === layers.length - 1) {
        // Only the mean of the last product is needed, and it equals the product of the mean.
        matrices.mean(buffers.state, count, WIDTH)
        matrices.mean(buffers.hidden, count, HIDDEN)
        rows = 1
      }
      product(buffers.hidden, contract, buffers.output, rows, HIDDEN, WIDTH)
      matrices.add(buffers.state, buffers.output, rows * WIDTH)
    }
    product(buffers.state, last, buffers.output, 1, WIDTH, WIDTH)
    return toUnit(buffers.output.slice(0, WIDTH).map(Math.tanh))
  }
}

/** @param {Matrices} matrices */
function makeBuffers (matrices) {
  return {
    weights: matrices.floats(HIDDEN * WIDTH),
    state: matrices.floats(MAX_PIECES * WIDTH),
    normalized: matrices.floats(MAX_PIECES * WIDTH),
    qkv: matrices.floats(MAX_PIECES * 3 * WIDTH),
    attended: matrices.floats(MAX_PIECES * WIDTH),
    output: matrices.floats(MAX_PIECES * WIDTH),
    hidden: matrices.floats(MAX_PIECES * HIDDEN),
    attentionWeights: matrices.floats(MAX_PIECES * MAX_PIECES),
    left: matrices.rounded(MAX_PIECES, HIDDEN),
    rows: matrices.rounded(MAX_PIECES, WIDTH / HEADS),
    keys: matrices.columns(WIDTH / HEADS, MAX_PIECES),
    values: matrices.columns(MAX_PIECES, WIDTH / HEADS),
  }
}

/** Makes the encoding of each position in a text. @param {Float32Array} frequencies */
function makePositions (frequencies) {
  const positions = new Float32Array(MAX_PIECES * EMBEDDED)
  for (let index = 0; index < positions.length; index++) {
    const angle = Math.floor(index / EMBEDDED) * frequencies[index % frequencies.length]
    positions[index] = index % EMBEDDED < frequencies.length ? Math.sin(angle) : Math.cos(angle)
  }
  return positions
}

/** Softmax of the first `count` numbers, times `factor`, of each of `count` rows; the other numbers become 0. */
function softmax (values, count, columns, factor) {
  for (let row = 0; row < count; row++) {
    const start = row * columns
    let largest = -Infinity
    for (let index = start; index < start + count; index++) largest = Math.max(largest, values[index])
    let sum = 0
    for (let index = start; index < start + count; index++) {
      sum += values[index] = Math.exp((values[index] - largest) * factor)
    }
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
