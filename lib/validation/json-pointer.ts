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
