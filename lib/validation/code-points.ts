/** Characters (code points) of a text, counted no further than one above what is asked. */
export function codePointsUpTo (text: string, enough: number): number {
  let count = 0
  for (let at = 0; at < text.length && count <= enough; at++) {
    if (text.codePointAt(at)! > 0xffff) at++
    count++
  }
  return count
}
