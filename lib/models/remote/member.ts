/** A member of parsed JSON, of which nothing is known; undefined when there is none. */
export function member (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
