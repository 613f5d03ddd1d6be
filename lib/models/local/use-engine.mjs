// Vectors by the Universal Sentence Encoder "lite", English; see worker.mjs.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeEncoder } from './use-model.mjs'
import { makeTokenizer } from './use-tokenizer.mjs'
import { readWeights } from './use-weights.mjs'

/**
 * @param {{ weights: string }} options URL of the package with the weights
 * @returns {Promise<{ compute: (texts: string[], options: { urgent: boolean }) => Promise<Float32Array> }>} no text may be empty
 */
export async function open ({ weights }) {
  const { vocabulary, weight } = await readWeights(weights)
  const tokenize = makeTokenizer(vocabulary)
  const { rooms: [patientRoom, urgentRoom], encode } = makeEncoder(weight)
  /** The patient texts so far: one is computed at a time. */
  let before = Promise.resolve()

  /** Nothing else runs meanwhile. */
  function computeAtOnce (texts) {
    return texts.map((text) => {
      const steps = encode(tokenize(text), urgentRoom)
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value
      }
    })
  }

  /** Between the steps the thread hears what is urgent, and computes that first. */
  async function computeInSteps (texts) {
    const vectors = []
    for (const text of texts) {
      const steps = encode(tokenize(text), patientRoom)
      let step = steps.next()
      for (; !step.done; step = steps.next()) await nextTurn()
      vectors.push(step.value)
    }
    return vectors
  }

  async function compute (texts, { urgent }) {
    if (urgent) return joined(computeAtOnce(texts))
    const vectors = before.then(() => computeInSteps(texts))
    before = vectors.then(() => {}, () => {})
    return joined(await vectors)
  }

  return { compute }
}

/** @param {Float32Array[]} vectors all of one length */
function joined (vectors) {
  const all = new Float32Array(vectors.length * vectors[0].length)
  vectors.forEach((vector, index) => { all.set(vector, index * vector.length) })
  return all
}
