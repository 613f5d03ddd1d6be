import type { Static, TSchema } from 'typebox'
import { ProviderError, type ProviderConfig } from './registry.js'
import { schemaCheck, validationError } from '../validation/schema-check.js'

const WORDS = { knownMember: 'a known key', object: 'a map' }

/**
 * Makes the check of a provider's `_config` map.
 * @param key the map's key in the configuration file, for messages: `vector_store_config`
 * @returns a function that returns the map with the schema's type, or throws ProviderError, which names each wrong
 *   setting and shows no value
 */
export function settingsCheck<S extends TSchema> (key: string, schema: S): (config: ProviderConfig) => Static<S> {
  return schemaCheck(schema, (problems) => {
    const { errors = [] } = validationError(problems, '', WORDS).members
    return new ProviderError(errors.map(({ field, message }) => `${key}.${field}: ${message}`).join('; '))
  })
}
