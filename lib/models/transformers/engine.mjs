// Models by @huggingface/transformers (v3, v4), on ONNX Runtime; see ../workers/worker.mjs.

/** Log level for errors only, because ONNX Runtime writes directly to the standard output of the process. */
const ORT_ERRORS = 3
/** Log level of the package for errors only; it exists since v4. */
const LOG_ERRORS = 40

/**
 * @param {import('./providers.js').ModelOptions & (
 *   { task: 'embed', pooling: 'mean' | 'cls', dimensions?: number } | { task: 'rerank' })} options
 * @returns {Promise<{ compute: (items: string[] | [query: string, text: string][]) => Promise<Float32Array> }>}
 */
export async function open (options) {
  const { module, model, dtype, cacheDir, allowRemote, task } = options
  const transformers = await import(module)
  const { env } = transformers
  env.allowRemoteModels = allowRemote
  env.logLevel = LOG_ERRORS
  if (cacheDir !== undefined) env.cacheDir = cacheDir
  const loading = {
    // The queue provides the parallelism; the runtime's own threads would compete with it for the processors.
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: ORT_ERRORS },
    ...(dtype !== undefined && { dtype }),
  }
  const compute = task === 'embed'
    ? await embedder(transformers, model, loading, options)
    : await scorer(transformers, model, loading)
  return { compute }
}

async function embedder ({ pipeline }, model, loading, { pooling, dimensions }) {
  const extract = await pipeline('feature-extraction', model, loading)
  return async (/** @type {string[]} */ texts) => {
    const output = await extract(texts, { pooling, normalize: true })
    const { dims } = output
    if (dims.length !== 2 || dims[0] !== texts.length) {
      throw new Error(`the model gave numbers in the shape ${dims.join(' by ')} for ${texts.length} texts`)
    }
    if (dimensions !== undefined && dims[1] !== dimensions) {
      throw new Error(`the model gives vectors of ${dims[1]} numbers, and dimensions is ${dimensions}`)
    }
    return finite(output)
  }
}

async function scorer ({ AutoTokenizer, AutoModelForSequenceClassification }, model, loading) {
  const tokenizer = await AutoTokenizer.from_pretrained(model)
  const classifier = await AutoModelForSequenceClassification.from_pretrained(model, loading)
  return async (/** @type {[query: string, text: string][]} */ pairs) => {
    const texts = pairs.map(([, text]) => text)
    const inputs = tokenizer(pairs.map(([query]) => query), { text_pair: texts, padding: true, truncation: true })
    const { logits } = await classifier(inputs)
    const { dims } = logits
    if (dims.length !== 2 || dims[0] !== pairs.length || dims[1] > 2) {
      const shape = dims.join(' by ')
      throw new Error(`the model gave scores in the shape ${shape} for ${pairs.length} texts: it is no cross-encoder`)
    }
    const numbers = finite(logits)
    if (dims[1] === 1) return numbers
    // Of two classes, the second is "relevant": their difference is the log odds.
    return Float32Array.from(pairs, (_, index) => numbers[2 * index + 1] - numbers[2 * index])
  }
}

/** Copies the numbers, because the runtime's own memory must not be transferred to another thread. */
function finite ({ type, data }) {
  // Half precision can come as raw bits, which would be read as whole numbers.
  if (type !== 'float32') {
    throw new Error(`the model gave numbers of the type ${type} and not float32; another dtype may help`)
  }
  const numbers = Float32Array.from(data)
  if (!numbers.every(Number.isFinite)) throw new Error('the model gave something that is not a finite number')
  return numbers
}
