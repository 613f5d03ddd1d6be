import { ProviderError, type ProviderConfig } from '../../providers/registry.js'

/**
 * Checks settings that depend on each other; the schemas check each setting alone.
 * @param key for messages
 * @param provider the name of one with an endpoint
 * @throws ProviderError
 */
export function checkCombinations (key: string, provider: string, settings: ProviderConfig): void {
  const isSet = (name: string) => settings[name] !== undefined
  if (settings['send_dimensions'] === true && !isSet('dimensions')) {
    throw new ProviderError(`${key}: send_dimensions needs dimensions`)
  }
  if (provider === 'anthropic' && isSet('temperature') && isSet('top_p')) {
    throw new ProviderError(`${key}: only one of temperature, top_p may be set`)
  }
  if (provider === 'rerank_endpoint' && settings['style'] !== 'tei' && !isSet('model')) {
    throw new ProviderError(`${key}.model: is required`)
  }
}
