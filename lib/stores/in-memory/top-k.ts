/**
 * The k first items in the order of `compare`, sorted. A bounded heap: items beyond the k-th cost one comparison.
 * @param compare negative when `a` comes first; a total order makes the result independent of the input's order
 */
export function topK<T> (items: readonly T[], k: number, compare: (a: T, b: T) => number): T[] {
  if (k < 1) return []
  if (items.length <= k) return [...items].sort(compare)
  // heap[0] is the last of the best so far: the one that the next better item replaces.
  const heap = items.slice(0, k)
  for (let at = (k >> 1) - 1; at >= 0; at--) siftDown(heap, at, compare)
  for (let index = k; index < items.length; index++) {
    const item = items[index]!
    if (compare(item, heap[0]!) < 0) {
      heap[0] = item
      siftDown(heap, 0, compare)
    }
  }
  return heap.sort(compare)
}

function siftDown<T> (heap: T[], from: number, compare: (a: T, b: T) => number): void {
  const item = heap[from]!
  let at = from
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && compare(heap[child + 1]!, heap[child]!) > 0) child++
    if (compare(heap[child]!, item) <= 0) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = item
}
