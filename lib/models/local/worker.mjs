// A thread that computes with a model: see worker-queue.ts, which starts it and asks.
// Plain JavaScript, because a worker thread loads it as it stands: beside the sources and in dist/ alike.
import { parentPort, workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'

/**
 * What the module at `workerData.engine` exports as `open`; it loads the model. `compute` is called with one batch after another.
 * @typedef {(options: object) => Promise<{ compute: (items: unknown[]) => Promise<Float32Array> }>} Open
 */

/**
 * What the thread is asked; no items: to load the model.
 * @typedef {{ id: number, items: unknown[] }} Batch
 */

/**
 * What it answers: the numbers of all items, one after another, or why there are none. A thread that rejects is broken.
 * @typedef {Float32Array | { failed: string }} Answer
 */

// The process's output belongs to the program; what libraries say would break its log.
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

/** A model that could not be loaded is tried again with the next batch: the network may be back. */
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
 * Stands in for a stream's write().
 * @param {unknown} chunk
 * @param {unknown} encoding
 * @param {unknown} callback
 */
function drop (chunk, encoding, callback) {
  const done = typeof encoding === 'function' ? encoding : callback
  if (typeof done === 'function') queueMicrotask(done)
  return true
}
