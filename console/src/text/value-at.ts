/** The value at a path such as `homeostasis.rate_limits.retain_per_minute`; names may contain dots. */
export function valueAt (value: unknown, path: string): unknown {
  if (path === '') return value
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    if (path !== name && !path.startsWith(`${name}.`)) continue
    const found = valueAt(inner, path.slice(name.length + 1))
    if (found !== undefined) return found
  }
  return undefined
}
