/** A path with encoded names. A name that is missing, `.` or `..` would change the path, so it throws a TypeError. */
export function pathOf (literals: TemplateStringsArray, ...names: string[]): string {
  return literals.reduce((path, literal, index) => {
    const name: unknown = names[index - 1]
    if (typeof name !== 'string' || /^\.{0,2}$/.test(name)) {
      throw new TypeError(`Not a valid name of a bank or memory: ${String(name)}`)
    }
    return path + encodeURIComponent(name) + literal
  })
}
