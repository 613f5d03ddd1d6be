import type { Hit } from 'memory-gateway-client'

/** What one strategy or scorer gave to the sum of a hit. */
export interface Part { name: string, value: number }

/** A part as a piece of a bar, in shares of the bar's width. */
export interface Segment extends Part { start: number, width: number }

export function partsOf ({ scores }: Pick<Hit, 'scores'>): Part[] {
  if (scores === undefined) return []
  const given = { ...scores.contributions, ...scores.signals }
  return Object.entries(given).flatMap(([name, value]) => value === undefined || value === 0 ? [] : [{ name, value }])
}

/** The names over all hits, strategies first, so that each has one colour everywhere. */
export function namesOf (lists: ReadonlyArray<readonly Part[]>): string[] {
  const names = new Set(['lexical', 'semantic'])
  for (const list of lists) for (const { name } of list) names.add(name)
  return [...names]
}

export interface Extent { least: number, most: number }

/** How far bars reach below and above nothing. */
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

/** Stacks parts: those that add to the right of nothing, those that take away to its left. */
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
