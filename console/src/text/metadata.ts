export type Metadata = Record<string, string | number | boolean | null>

export type ParsedMetadata = { value: Metadata | undefined, error?: undefined } | { value?: undefined, error: string }

/** Metadata as a user types it: a flat JSON object; an empty text means none. */
export function parseMetadata (text: string): ParsedMetadata {
  if (text.trim() === '') return { value: undefined }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { error: 'This is not JSON. Example: {"kind": "note"}.' }
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { error: 'This must be a JSON object in braces.' }
  }
  const value: Metadata = {}
  for (const [name, member] of Object.entries(parsed) as Array<[string, unknown]>) {
    if (member !== null && typeof member !== 'string' && typeof member !== 'number' && typeof member !== 'boolean') {
      return { error: `"${name}" must be a string, a number, true, false or null.` }
    }
    // Defined as an own property, whatever its name is.
    Object.defineProperty(value, name, { value: member, enumerable: true, configurable: true, writable: true })
  }
  return { value }
}
