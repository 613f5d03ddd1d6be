import type { TSchema } from 'typebox'
import { withDefaults, type Resolved } from '../../base/defaults.js'
import { schemaCheck, SETTINGS_WORDS, validationError } from '../../base/schema-check.js'
import { ProviderError, type ProviderConfig } from './registry.js'

/**
 * Makes the function that checks a provider's `_config` map and resolves it.
 * @param key the map's key in the configuration file, for messages: `vector_store_config`
 * @returns a function that returns the settings with every default of the schema filled in, or throws ProviderError,
 *   which names each wrong setting and shows no value
 */
export function settingsCheck<S extends TSchema> (key: string, schema: S): (config: ProviderConfig) => Resolved<S> {
  const check = schemaCheck(schema, (problems) => {
    const { errors = [] } = validationError(problems, '', SETTINGS_WORDS).members
    return new ProviderError(errors.map(({ field, message }) => `${key}.${field}: ${message}`).join('; '))
  })
  return (config) => withDefaults(schema, check(config))
}
