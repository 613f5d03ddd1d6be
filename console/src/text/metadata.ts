export type Metadata = Record<string, string | number | boolean | null>

export type ReadMetadata = { value: Metadata | undefined, error?: undefined } | { value?: undefined, error: string }

/** Metadata as a reader types it: a flat JSON object; an empty text means none. */
export function readMetadata (text: string): ReadMetadata {
  if (text.trim() === '') return { value: undefined }
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return { error: 'This is not JSON, such as {"kind": "note"}.' }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { error: 'It must be an object in braces.' }
  const value: Metadata = {}
  for (const [name, one] of Object.entries(given) as Array<[string, unknown]>) {
    if (one !== null && typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean') {
      return { error: `"${name}" must be a text, a number, true, false or null.` }
    }
    // Defined as an own property, whatever its name is.
    Object.defineProperty(value, name, { value: one, enumerable: true, configurable: true, writable: true })
  }
  return { value }
}
