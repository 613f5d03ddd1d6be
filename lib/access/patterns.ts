/** Decides whether a name matches. */
export type Matcher = (name: string) => boolean

/**
 * A pattern of the configuration: literal, or a prefix before one trailing `*`; a lone `*` matches everything.
 * A `*` anywhere in the name that is tested is an ordinary character: callers cannot bring patterns.
 */
export function compilePattern (pattern: string): Matcher {
  if (!pattern.endsWith('*')) return (name) => name === pattern
  const prefix = pattern.slice(0, -1)
  return (name) => name.startsWith(prefix)
}

export function isLiteral (pattern: string): boolean {
  return !pattern.endsWith('*')
}
