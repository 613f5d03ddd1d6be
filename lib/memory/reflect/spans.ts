const RUN = /`+/g

/**
 * Code spans of a line (CommonMark 0.31 section 6.1): from a run of backticks to the next run of the same length.
 * @returns the end of each span by its start
 */
export function codeSpans (text: string): Map<number, number> {
  const spans = new Map<number, number>()
  const runs = [...text.matchAll(RUN)].map(({ 0: run, index }) => ({ at: index, length: run.length }))
  const nextAlike = new Array<number>(runs.length).fill(-1)
  const latest = new Map<number, number>()
  for (let index = runs.length - 1; index >= 0; index--) {
    nextAlike[index] = latest.get(runs[index]!.length) ?? -1
    latest.set(runs[index]!.length, index)
  }
  for (let index = 0; index < runs.length; index++) {
    const close = nextAlike[index]!
    if (close < 0) continue
    spans.set(runs[index]!.at, runs[close]!.at + runs[close]!.length)
    index = close
  }
  return spans
}

export interface Pair {
  /** Position of the closing bracket. */
  close: number
  /** How many pairs of the same kind it contains, one inside the other. */
  depth: number
}

/**
 * Pairs of brackets outside of code, by the position of the opening bracket.
 * @param kind opening and closing bracket
 */
export function bracketPairs (
  text: string, [open, close]: readonly [string, string], code: ReadonlyMap<number, number>,
): Map<number, Pair> {
  const pairs = new Map<number, Pair>()
  const stack: Array<{ at: number, depth: number }> = []
  for (let at = 0; at < text.length; at++) {
    const end = code.get(at)
    if (end !== undefined) {
      at = end - 1
      continue
    }
    const character = text[at]
    if (character === open) stack.push({ at, depth: 0 })
    else if (character === close) {
      const opened = stack.pop()
      if (opened === undefined) continue
      pairs.set(opened.at, { close: at, depth: opened.depth })
      const outer = stack.at(-1)
      if (outer !== undefined) outer.depth = Math.max(outer.depth, opened.depth + 1)
    }
  }
  return pairs
}
