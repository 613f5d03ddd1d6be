/** A path with encoded names. A name that is missing or would change the path is a programming error. */
export function pathOf (texts: TemplateStringsArray, ...names: string[]): string {
  return texts.reduce((made, text, index) => {
    const name: unknown = names[index - 1]
    if (typeof name !== 'string' || /^\.{0,2}$/.test(name)) {
      throw new TypeError(`No name of a bank or memory: ${String(name)}`)
    }
    return made + encodeURIComponent(name) + text
  })
}
