/** A one-dimensional array in PostgreSQL's array syntax; every element is text or null. */
export function arrayText (elements: ReadonlyArray<string | null>): string {
  return arrayOf(elements.map(arrayElement))
}

/** An element as written in the text of an array. */
export function arrayElement (element: string | null): string {
  if (element === null) return 'NULL'
  return `"${element.includes('"') || element.includes('\\') ? element.replaceAll(/["\\]/g, '\\$&') : element}"`
}

/** The text of an array whose elements were written by arrayElement. */
export function arrayOf (elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}

const ELEMENT = /"([^"\\]*(?:\\.[^"\\]*)*)"|([^,]+)/gs

/** Parses a one-dimensional array in PostgreSQL's output syntax. */
export function arrayElements (text: string): Array<string | null> {
  if (!text.includes('"')) return bareElements(text).map((element) => element === 'NULL' ? null : element)
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}

/** Occurs in NULL, NaN and Infinity, which arrays of numbers may contain and JSON may not. */
const NOT_JSON = /[NI]/

/** Parses a one-dimensional array of numbers. A search returns two such arrays for each memory. */
export function arrayNumbers (text: string): Array<number | null> {
  if (NOT_JSON.test(text)) return bareElements(text).map((element) => element === 'NULL' ? null : Number(element))
  const numbers: number[] = JSON.parse(`[${text.slice(1, -1)}]`)
  return numbers
}

/** Parses an array without quoted elements, the usual case, much faster than the regular expression. */
function bareElements (text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}
