import type { Static, TSchema } from 'typebox'
import { ServiceError } from '../errors/service-error.js'
import { ProviderError, type ProviderConfig } from './registry.js'
import { schemaCheck } from '../validation/schema-check.js'

/**
 * Makes the check of a provider's `_config` map.
 * @param key the map's key in the configuration file, for messages: `vector_store_config`
 * @returns a function that returns the map with the schema's type, or throws ProviderError, which names each wrong
 *   setting and shows no value
 */
export function settingsCheck<S extends TSchema> (key: string, schema: S): (config: ProviderConfig) => Static<S> {
  const check = schemaCheck(schema)
  return (config) => {
    try {
      return check(config)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const problems = (error.members.errors ?? []).map(({ field, message }) => (
        `${key}.${field}: ${message.replace('a known field', 'a known key').replace('a JSON object', 'a map')}`
      ))
      throw new ProviderError(problems.join('; '))
    }
  }
}
