/** A one-dimensional array as PostgreSQL reads it; every element is text or null. */
export function arrayText (elements: ReadonlyArray<string | null>): string {
  return `{${elements.map((element) => element === null ? 'NULL' : `"${element.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

const ELEMENT = /"([^"\\]*(?:\\.[^"\\]*)*)"|([^,]+)/gs

/** The elements of a one-dimensional array as PostgreSQL writes it. */
export function arrayElements (text: string): Array<string | null> {
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}
