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
  if (!text.includes('"')) return bareElements(text).map((element) => element === 'NULL' ? null : element)
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}

/** What an array of numbers may have that JSON does not: NULL, NaN and Infinity. */
const NOT_JSON = /[NI]/

/** The elements of a one-dimensional array of numbers. A search has two such arrays for each memory. */
export function arrayNumbers (text: string): Array<number | null> {
  if (NOT_JSON.test(text)) return bareElements(text).map((element) => element === 'NULL' ? null : Number(element))
  const numbers: number[] = JSON.parse(`[${text.slice(1, -1)}]`)
  return numbers
}

/** The expression takes many times as long, and most arrays have nothing in quotes. */
function bareElements (text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}
