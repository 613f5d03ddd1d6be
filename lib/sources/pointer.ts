/** @returns the value at the JSON pointer (RFC 6901); undefined when there is none */
export function resolvePointer (document: unknown, pointer: string): unknown {
  let value = document
  for (const raw of pointer.split('/').slice(1)) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
