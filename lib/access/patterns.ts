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

/**
 * A pattern of principals. Types that a token tells are in lower case, so a grant to `User:*` holds for `user:x` too; a type that a
 * caller writes is compared as it stands, and an id always is.
 */
export function compilePrincipalPattern (pattern: string): Matcher {
  const asItStands = compilePattern(pattern)
  const colon = pattern.indexOf(':')
  const type = colon === -1 ? pattern : pattern.slice(0, colon)
  const lowered = `${type.toLowerCase()}${pattern.slice(type.length)}`
  // A literal without a type is an id alone.
  if (lowered === pattern || (colon === -1 && isLiteral(pattern))) return asItStands
  const inLowerCase = compilePattern(lowered)
  return (name) => asItStands(name) || (name.includes(':') && inLowerCase(name))
}

export function isLiteral (pattern: string): boolean {
  return !pattern.endsWith('*')
}
