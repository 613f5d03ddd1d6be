/** The rank of a hit compared with its rank under the other settings; `new` if the other settings do not return it. */
export type RankChange = { kind: 'same' } | { kind: 'new' } | { kind: 'up' | 'down', by: number, from: number }

interface Ranked { bank_id: string, memory_id: string }

export function keyOf ({ bank_id: bank, memory_id: id }: Ranked): string {
  return `${bank} ${id}`
}

/** The rank change of each hit of `after` compared with `before`. */
export function rankChangesOf (before: readonly Ranked[], after: readonly Ranked[]): RankChange[] {
  const oldRanks = new Map(before.map((hit, index) => [keyOf(hit), index]))
  return after.map((hit, index) => {
    const oldIndex = oldRanks.get(keyOf(hit))
    if (oldIndex === undefined) return { kind: 'new' }
    if (oldIndex === index) return { kind: 'same' }
    return { kind: index < oldIndex ? 'up' : 'down', by: Math.abs(index - oldIndex), from: oldIndex + 1 }
  })
}

/** The hits of `before` that `after` does not have. */
export function missingHits<Hit extends Ranked> (before: readonly Hit[], after: readonly Ranked[]): Hit[] {
  const keys = new Set(after.map(keyOf))
  return before.filter((hit) => !keys.has(keyOf(hit)))
}
