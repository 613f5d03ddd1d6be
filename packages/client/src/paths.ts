/** A path with encoded names. A name that is missing, `.` or `..` would change the path, so it throws a TypeError. */
export function pathOf (literals: TemplateStringsArray, ...names: Array<string | number>): string {
  return literals.reduce((path, literal, index) => {
    const given: unknown = names[index - 1]
    const name = Number.isSafeInteger(given) ? String(given) : given
    if (typeof name !== 'string' || /^\.{0,2}$/.test(name)) {
      throw new TypeError(`Not a valid name of a bank or memory: ${String(given)}`)
    }
    return path + encodeURIComponent(name) + literal
  })
}
