/** Counts the code points of a text, and stops one above `enough`. */
export function codePointsUpTo (text: string, enough: number): number {
  let count = 0
  for (let at = 0; at < text.length && count <= enough; at++) {
    if (text.codePointAt(at)! > 0xffff) at++
    count++
  }
  return count
}
