/** Whether a value that was read from JSON or YAML is an object: no list and not null. */
export function isJsonObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path; undefined when there is none. */
export function valueAt (sections: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => isJsonObject(value) ? value[key] : undefined, sections)
}

/** The value of a JSON text; undefined for a text that is not JSON. */
export function parsedJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
