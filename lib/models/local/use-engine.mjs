// The Universal Sentence Encoder "lite" (Cer et al. 2018), English, as TensorFlow.js runs it on WebAssembly; see worker.mjs.

/**
 * @param {{ core: string, embeddings: string, model: string }} options URLs of the three packages, all CommonJS
 * @returns {Promise<{ compute: (texts: string[]) => Promise<Float32Array> }>} no text may be empty
 */
export async function open ({ core, embeddings, model }) {
  const { default: { setThreadsCount } } = await import(core)
  const { default: { initModel } } = await import(embeddings)
  const { default: { modelSource } } = await import(model)
  // Its own threads would fight with those of the queue for the processors.
  setThreadsCount(1)
  const encoder = await initModel(modelSource)

  async function compute (texts) {
    const vectors = []
    // A batch is no faster than its texts, and their vectors would depend on each other in the last digits.
    for (const text of texts) vectors.push(toUnit((await encoder.embed([text]))[0]))
    return Float32Array.from(vectors.flat())
  }

  return { compute }
}

/** @param {number[]} vector */
function toUnit (vector) {
  const length = Math.hypot(...vector)
  if (!Number.isFinite(length) || length === 0) throw new Error('the model gave no vector for a text')
  return vector.map((value) => value / length)
}
