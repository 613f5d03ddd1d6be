// Vectors by the Universal Sentence Encoder "lite", English; see ../workers/worker.mjs.
import { makeEncoder } from './use-model.mjs'
import { makeTokenizer } from './use-tokenizer.mjs'
import { readWeights } from './use-weights.mjs'

/**
 * @param {{ weights: string }} options URL of the package with the weights
 * @returns {Promise<{ compute: (texts: string[]) => Promise<Float32Array> }>} no text may be empty
 */
export async function open ({ weights }) {
  const { vocabulary, weight } = await readWeights(weights)
  const tokenize = makeTokenizer(vocabulary)
  const encode = makeEncoder(weight)

  async function compute (texts) {
    const vectors = texts.map((text) => encode(tokenize(text)))
    return Float32Array.from(vectors.flatMap((vector) => [...vector]))
  }

  return { compute }
}
