import { invalidRequest } from '../errors/service-error.js'
import { isJsonObject } from '../validation/json-object.js'

/** Deeper than any valid configuration. */
const MAX_DEPTH = 16

/**
 * Applies a merge patch: maps are merged, null removes a member, any other value replaces the present one.
 * Source: RFC 7396, section 2.
 * @returns a new value; neither argument is changed
 * @throws ServiceError invalid_request for a patch that is nested more than 16 levels deep
 */
export function mergePatch (target: unknown, patch: unknown, depth = 0): unknown {
  if (!isJsonObject(patch)) return patch
  if (depth === MAX_DEPTH) throw invalidRequest([{ field: '', message: 'The patch is nested too deeply' }])
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value, depth + 1))
  }
  return Object.fromEntries(merged)
}
