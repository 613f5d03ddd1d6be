/** The contribution of one strategy or scorer to the sum of a hit. */
export interface Contribution { name: string, value: number }

/** A contribution as a segment of a stacked bar; `start` and `width` are fractions of the bar's width. */
export interface Segment extends Contribution { start: number, width: number }

/** The members of a hit that this file reads. */
interface Explained {
  scores?: { contributions?: { lexical?: number, semantic?: number }, signals?: Record<string, number> }
}

export function contributionsOf ({ scores }: Explained): Contribution[] {
  const values: Record<string, number> = { ...scores?.contributions, ...scores?.signals }
  return Object.entries(values).flatMap(([name, value]) => value === 0 ? [] : [{ name, value }])
}

/** The names of all contributions, strategies first. Their order determines the colours, equal for all hits. */
export function contributionNames (lists: ReadonlyArray<readonly Contribution[]>): string[] {
  const names = new Set(['lexical', 'semantic'])
  for (const list of lists) for (const { name } of list) names.add(name)
  return [...names]
}

/** The range of values that a bar covers; it contains zero. */
export interface Extent { min: number, max: number }

/** The smallest range that covers the bars of all lists. */
export function extentOf (lists: ReadonlyArray<readonly Contribution[]>): Extent {
  let min = 0
  let max = 0
  for (const list of lists) {
    min = Math.min(min, sumOf(list.filter(({ value }) => value < 0)))
    max = Math.max(max, sumOf(list.filter(({ value }) => value > 0)))
  }
  return { min, max: max === 0 && min === 0 ? 1 : max }
}

function sumOf (list: readonly Contribution[]): number {
  return list.reduce((sum, { value }) => sum + value, 0)
}

/** Stacks contributions: positive ones to the right of zero, negative ones to its left. */
export function segmentsOf (list: readonly Contribution[], { min, max }: Extent): Segment[] {
  const range = max - min
  let right = -min / range
  let left = right
  return list.map(({ name, value }) => {
    const width = Math.abs(value) / range
    if (value < 0) {
      left -= width
      return { name, value, start: left, width }
    }
    const start = right
    right += width
    return { name, value, start, width }
  })
}
