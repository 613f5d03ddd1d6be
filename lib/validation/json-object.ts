/** Whether a value that was read from JSON or YAML is an object: no list and not null. */
export function isJsonObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
