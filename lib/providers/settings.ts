import type { Static, TSchema } from 'typebox'
import { ServiceError } from '../errors/service-error.js'
import { ProviderError, type ProviderConfig } from './registry.js'
import { schemaCheck } from '../validation/schema-check.js'

/**
 * A check of a provider's `_config` map.
 * @param key the map's key in the configuration file, for messages: `vector_store_config`
 * @returns a function that gives the map back as the schema describes it, or throws ProviderError, which names what is wrong and shows no value
 */
export function settingsCheck<S extends TSchema> (key: string, schema: S): (config: ProviderConfig) => Static<S> {
  const check = schemaCheck(schema)
  return (config) => {
    try {
      return check(config)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const problems = (error.members.errors ?? []).map(({ field, message }) => `${key}.${field}: ${message.replace('a known field', 'a known key')}`)
      throw new ProviderError(problems.join('; '))
    }
  }
}
