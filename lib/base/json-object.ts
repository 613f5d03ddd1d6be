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

/** The names in a JSON pointer (RFC 6901): `/a~1b/0` has `a/b` and `0`. */
export function pointerSegments (pointer: string): string[] {
  return pointer.split('/').slice(1).map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** @returns the value at the JSON pointer; undefined when there is none */
export function resolvePointer (document: unknown, pointer: string): unknown {
  let value = document
  for (const name of pointerSegments(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
