import { loadConfig, type LoadOptions } from '../../lib/config/load.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import type { Config } from '../../lib/config/config.js'
import { FileSchema } from '../../lib/config/schema.js'
import { configsWithoutProvider } from '../../lib/config/unused.js'
import { ProviderError } from '../../lib/providers/registry.js'
import { settingsCheck } from '../../lib/providers/settings.js'
import { PROVIDER_SETTINGS } from '../../scripts/provider-settings.js'

const KEYS = ['vector_store', 'embedding_provider', 'llm_provider', 'reranker'] as const

/**
 * Checks everything in the configuration that can be checked without starting a provider.
 * @throws ConfigurationError
 */
export function checkedConfig (environment: NodeJS.ProcessEnv, options: LoadOptions = {}): Config {
  const config = loadConfig(environment, options)
  const problems = [...configsWithoutProvider(config.file), ...providerProblems(config)]
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

/** Settings of the registered providers; a class of the operator's own checks its own. */
function providerProblems ({ file }: Config): string[] {
  return KEYS.flatMap((key) => {
    // The other defaults have no settings (configsWithoutProvider).
    const name = file[key] ?? (key === 'vector_store' ? FileSchema.properties.vector_store.default : undefined)
    const settings = PROVIDER_SETTINGS.find((known) => known.key === key && known.name === name)
    if (settings === undefined) return []
    try {
      settingsCheck(`${key}_config`, settings.schema)(file[`${key}_config`] ?? {})
      return []
    } catch (error) {
      if (error instanceof ProviderError) return [error.message]
      throw error
    }
  })
}
