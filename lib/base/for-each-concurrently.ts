/**
 * Does the work for every item, in their order, for a few of them at a time. No item is begun after a failure; the work
 * that has begun goes on.
 * @throws the first error of the work
 */
export async function forEachConcurrently<T> (
  items: Iterable<T>, maxConcurrent: number, work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = [...items]
  const worker = async () => {
    while (remaining.length > 0) await work(remaining.shift()!)
  }
  try {
    await Promise.all(Array.from({ length: Math.min(maxConcurrent, remaining.length) }, worker))
  } catch (error) {
    remaining.length = 0
    throw error
  }
}
