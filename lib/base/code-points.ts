/** Counts the code points of a text, and stops one above `enough`. */
export function codePointsUpTo (text: string, enough: number): number {
  let count = 0
  for (let at = 0; at < text.length && count <= enough; at++) {
    if (text.codePointAt(at)! > 0xffff) at++
    count++
  }
  return count
}

/** Whether a UTF-16 unit is the first half of a surrogate pair. */
export function isHighSurrogate (unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Whether a UTF-16 unit is the second half of a surrogate pair. */
export function isLowSurrogate (unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
