import { splitPrincipal } from '../identity/context.js'

const TYPE = /^[a-z][a-z0-9_]*$/
/**
 * Characters that an id may not have where a pattern omits the type: `a:b` or `a-b` could equal the typed bank of
 * another principal.
 */
const TYPE_SEPARATOR = /[-:]/

/**
 * The rule of `owner_only`: the principal `<type>:<id>` owns the banks that the patterns name once `{type}` and `{id}`
 * are filled in. A pattern without `{type}` holds only for ids with neither `-` nor `:`.
 */
export function ownsBank (principal: string, bankId: string, patterns: readonly string[]): boolean {
  const parts = splitPrincipal(principal)
  if (parts === undefined || !TYPE.test(parts.type)) return false
  return patterns.some((pattern) => {
    if (!pattern.includes('{type}') && TYPE_SEPARATOR.test(parts.id)) return false
    // One pass, so that a `{type}` inside an id is not replaced.
    return pattern.replace(/\{(type|id)\}/g, (_, name: 'type' | 'id') => parts[name]) === bankId
  })
}
