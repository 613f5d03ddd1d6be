import { splitPrincipal } from '../identity/context.js'

const TYPE = /^[a-z][a-z0-9_]*$/
/** What an id must not hold when it stands without its type: it could else name another's typed bank. */
const POSES_AS_TYPED = /[-:]/

/**
 * The rule of `owner_only`: principal `<type>:<id>` owns the banks that the patterns name with `{type}` and `{id}` put in.
 * A pattern without `{type}` holds only for ids with neither `-` nor `:`.
 */
export function ownsBank (principal: string, bankId: string, patterns: readonly string[]): boolean {
  const parts = splitPrincipal(principal)
  if (parts === undefined || !TYPE.test(parts.type)) return false
  return patterns.some((pattern) => {
    if (!pattern.includes('{type}') && POSES_AS_TYPED.test(parts.id)) return false
    // One pass, so that a `{type}` inside an id stays text.
    return pattern.replace(/\{(type|id)\}/g, (_, name: 'type' | 'id') => parts[name]) === bankId
  })
}
