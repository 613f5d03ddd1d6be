/** The contribution of one strategy or scorer to the sum of a hit. */
export interface Part { name: string, value: number }

/** A part as a piece of a bar, in shares of the bar's width. */
export interface Segment extends Part { start: number, width: number }

/** The members of an explained hit that are used here. */
interface Explained {
  scores?: { contributions?: { lexical?: number, semantic?: number }, signals?: Record<string, number> }
}

export function partsOf ({ scores }: Explained): Part[] {
  const given: Record<string, number> = { ...scores?.contributions, ...scores?.signals }
  return Object.entries(given).flatMap(([name, value]) => value === 0 ? [] : [{ name, value }])
}

/** The names over all hits, strategies first, so that each has one colour everywhere. */
export function namesOf (lists: ReadonlyArray<readonly Part[]>): string[] {
  const names = new Set(['lexical', 'semantic'])
  for (const list of lists) for (const { name } of list) names.add(name)
  return [...names]
}

export interface Extent { least: number, most: number }

/** How far bars extend below and above zero. */
export function extentOf (lists: ReadonlyArray<readonly Part[]>): Extent {
  let least = 0
  let most = 0
  for (const list of lists) {
    least = Math.min(least, sumOf(list.filter(({ value }) => value < 0)))
    most = Math.max(most, sumOf(list.filter(({ value }) => value > 0)))
  }
  return { least, most: most === 0 && least === 0 ? 1 : most }
}

function sumOf (list: readonly Part[]): number {
  return list.reduce((sum, { value }) => sum + value, 0)
}

/** Stacks parts: positive ones to the right of zero, negative ones to its left. */
export function segmentsOf (list: readonly Part[], { least, most }: Extent): Segment[] {
  const whole = most - least
  let right = -least / whole
  let left = right
  return list.map(({ name, value }) => {
    const width = Math.abs(value) / whole
    if (value < 0) {
      left -= width
      return { name, value, start: left, width }
    }
    const start = right
    right += width
    return { name, value, start, width }
  })
}
