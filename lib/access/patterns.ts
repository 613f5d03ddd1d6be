import { withLowerType } from './context.js'

/** Decides whether a name matches. */
export type Matcher = (name: string) => boolean

/**
 * A pattern of the configuration: literal, or a prefix before one trailing `*`; a lone `*` matches everything.
 * A `*` in the name that is tested is an ordinary character, so callers cannot supply patterns.
 */
export function compilePattern (pattern: string): Matcher {
  if (!pattern.endsWith('*')) return (name) => name === pattern
  const prefix = pattern.slice(0, -1)
  return (name) => name.startsWith(prefix)
}

/**
 * Compiles a pattern of principals. Types from tokens are in lower case, so a grant to `User:*` also holds for
 * `user:x`. Otherwise type and id are compared with regard to case.
 */
export function compilePrincipalPattern (pattern: string): Matcher {
  const matchesExactly = compilePattern(pattern)
  const lowered = pattern.includes(':') ? withLowerType(pattern) : pattern.toLowerCase()
  // A literal without a colon is a plain id.
  if (lowered === pattern || (!pattern.includes(':') && isLiteral(pattern))) return matchesExactly
  const matchesLowered = compilePattern(lowered)
  return (name) => matchesExactly(name) || (name.includes(':') && matchesLowered(name))
}

export function isLiteral (pattern: string): boolean {
  return !pattern.endsWith('*')
}
