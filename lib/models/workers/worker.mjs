// A thread that computes with a model for worker-queue.ts. It is plain JavaScript, because a thread loads this file
// both beside the sources and in dist/.
import { parentPort, workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'

/**
 * The function `open` of the module at `workerData.engine`, which loads the model. `compute` gets one batch at a time.
 * @typedef {(options: object) => Promise<{ compute: (items: unknown[]) => Promise<Float32Array> }>} Open
 */

/**
 * A request to the thread; without items it only loads the model.
 * @typedef {{ id: number, items: unknown[] }} Batch
 */

/**
 * The answer: the results of all items in order, or the error. A thread that rejects is broken.
 * @typedef {Float32Array | { failed: string }} Answer
 */

// Output of libraries would corrupt the log on the process's standard output, so it is discarded.
for (const stream of [process.stdout, process.stderr]) stream.write = drop

/** @type {ReturnType<Open> | undefined} */
let engine

/**
 * @param {Batch} batch
 * @returns {Promise<Answer>}
 */
export default async function run ({ id, items }) {
  try {
    const { compute } = await opened()
    parentPort.postMessage({ began: id })
    const numbers = items.length === 0 ? new Float32Array(0) : await compute(items)
    return move({ [transferableSymbol]: numbers.buffer, [valueSymbol]: numbers })
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

/** A model that could not be loaded is loaded again for the next batch, because the network may be back. */
async function opened () {
  engine ??= open()
  try {
    return await engine
  } catch (error) {
    engine = undefined
    throw error
  }
}

/** @type {Open} */
async function open () {
  const module = await import(workerData.engine)
  return await module.open(workerData.options)
}

/**
 * Replaces the write() of a stream.
 * @param {unknown} chunk
 * @param {unknown} encoding
 * @param {unknown} callback
 */
function drop (chunk, encoding, callback) {
  const done = typeof encoding === 'function' ? encoding : callback
  if (typeof done === 'function') queueMicrotask(done)
  return true
}
