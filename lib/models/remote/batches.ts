import { linkedAbort } from '../../concurrency/aborting.js'
import { forEachConcurrently } from '../../concurrency/for-each-concurrently.js'

interface BatchOptions {
  size: number
  /** Batches in progress at a time. Default: all of them. */
  width?: number
  signal: AbortSignal | undefined
}

/**
 * Divides items into batches and does the work for each. The first batch that fails ends the others, because the caller
 * needs the results of all.
 * @returns the results in the order of the items
 */
export async function inBatches<T, R> (
  items: readonly T[], { size, width = Infinity, signal }: BatchOptions,
  work: (batch: readonly T[], signal: AbortSignal) => Promise<readonly R[]>,
): Promise<R[]> {
  const batches: Array<readonly T[]> = []
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size))
  const results: Array<readonly R[]> = []
  const { controller, unlink } = linkedAbort(signal)
  try {
    await forEachConcurrently(batches.entries(), width, async ([index, batch]) => {
      results[index] = await work(batch, controller.signal)
    })
  } catch (error) {
    controller.abort(error)
    throw error
  } finally {
    unlink()
  }
  return results.flat()
}
