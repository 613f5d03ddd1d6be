/** Compares in code-unit order, which does not depend on a locale. @returns a number for Array.prototype.sort */
export function compareText (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
