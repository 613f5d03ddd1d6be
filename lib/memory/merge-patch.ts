import { invalidField } from '../errors/service-error.js'
import { didYouMean, memberName } from '../errors/wording.js'
import { isJsonObject } from '../validation/json-object.js'
import { MAX_NAME_CHARACTERS } from '../validation/schema-check.js'
import { shorten } from '../validation/shorten.js'

/** Deeper than any valid configuration. */
const MAX_DEPTH = 16

/** The part of a JSON schema that tells which members an object may have. */
interface ObjectSchema {
  properties?: Record<string, object>
}

/**
 * Applies a merge patch: maps are merged, null removes a member, any other value replaces the present one.
 * Source: RFC 7396, section 2.
 * @param schema of the target: a patch that removes a member that neither the target nor the schema has is refused,
 *   because its name is probably misspelt
 * @returns a new value; neither argument is changed
 * @throws ServiceError invalid_request for such a member, and for a patch that is nested more than 16 levels deep
 */
export function mergePatch (
  target: unknown, patch: unknown, schema: ObjectSchema = {}, path: readonly string[] = [],
): unknown {
  if (!isJsonObject(patch)) return patch
  if (path.length === MAX_DEPTH) {
    throw invalidField('', `The patch is nested too deeply; the maximum is ${MAX_DEPTH} levels`)
  }
  const { properties } = schema
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    const at = [...path, key]
    const isKnown = properties === undefined || Object.hasOwn(properties, key)
    if (value !== null) {
      merged.set(key, mergePatch(merged.get(key), value, isKnown ? properties?.[key] : {}, at))
    } else if (!merged.delete(key) && !isKnown) {
      const field = shorten(at.map(memberName).join('.'), MAX_NAME_CHARACTERS)
      throw invalidField(field, `is not a known field${didYouMean(key, Object.keys(properties))}`)
    }
  }
  return Object.fromEntries(merged)
}
