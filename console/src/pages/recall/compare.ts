/** How the rank of a hit compares with that under the other settings. */
export type Move = { kind: 'same' } | { kind: 'new' } | { kind: 'up' | 'down', by: number, from: number }

interface Ranked { bank_id: string, memory_id: string }

export function keyOf ({ bank_id: bank, memory_id: id }: Ranked): string {
  return `${bank} ${id}`
}

/** For each hit of `after`, how it moved from its place in `before`. */
export function movesOf (before: readonly Ranked[], after: readonly Ranked[]): Move[] {
  const places = new Map(before.map((hit, index) => [keyOf(hit), index]))
  return after.map((hit, index) => {
    const old = places.get(keyOf(hit))
    if (old === undefined) return { kind: 'new' }
    if (old === index) return { kind: 'same' }
    return { kind: index < old ? 'up' : 'down', by: Math.abs(index - old), from: old + 1 }
  })
}

/** The hits of `before` that `after` does not have. */
export function lostOf<Hit extends Ranked> (before: readonly Hit[], after: readonly Ranked[]): Hit[] {
  const kept = new Set(after.map(keyOf))
  return before.filter((hit) => !kept.has(keyOf(hit)))
}
