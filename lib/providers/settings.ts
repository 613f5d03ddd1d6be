import type { Static, TSchema } from 'typebox'
import { ProviderError, type ProviderConfig } from './registry.js'
import { isJsonObject } from '../validation/json-object.js'
import { schemaCheck, validationError } from '../validation/schema-check.js'
import { typedText } from '../validation/typed-text.js'

const WORDS = { knownMember: 'a known key', object: 'a map' }

interface SettingSchema {
  // Not used here. TypeScript requires a member in common with the types of TypeBox.
  '~kind'?: string
  type?: unknown
  properties?: Readonly<Record<string, SettingSchema>>
}

/**
 * Makes the check of a provider's `_config` map. A text that spells a number or a boolean is one where the schema
 * requires it: the schema of the file does not know the settings of a provider, so variables in them are still texts.
 * @param key the map's key in the configuration file, for messages: `vector_store_config`
 * @returns a function that returns the map with the schema's type, or throws ProviderError, which names each wrong
 *   setting and shows no value
 */
export function settingsCheck<S extends TSchema> (key: string, schema: S): (config: ProviderConfig) => Static<S> {
  const check = schemaCheck(schema, (problems) => {
    const { errors = [] } = validationError(problems, '', WORDS).members
    return new ProviderError(errors.map(({ field, message }) => `${key}.${field}: ${message}`).join('; '))
  })
  return (config) => check(typed(config, schema))
}

function typed (value: unknown, { type, properties }: SettingSchema = {}): unknown {
  if (typeof value === 'string') return typedText(value, type)
  if (properties === undefined || !isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => (
    [name, typed(child, Object.hasOwn(properties, name) ? properties[name] : undefined)]
  )))
}
