/** A one-dimensional array as PostgreSQL reads it; every element is text or null. */
export function arrayText (elements: ReadonlyArray<string | null>): string {
  return arrayOf(elements.map(arrayElement))
}

/** An element as it stands in the text of an array. */
export function arrayElement (element: string | null): string {
  if (element === null) return 'NULL'
  return `"${element.includes('"') || element.includes('\\') ? element.replaceAll(/["\\]/g, '\\$&') : element}"`
}

/** The text of an array, of elements that are as arrayElement makes them. */
export function arrayOf (elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}

const ELEMENT = /"([^"\\]*(?:\\.[^"\\]*)*)"|([^,]+)/gs

/** The elements of a one-dimensional array as PostgreSQL writes it. */
export function arrayElements (text: string): Array<string | null> {
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}
