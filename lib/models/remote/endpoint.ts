import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock, type Clock } from '../../time/clock.js'
import { ProviderError, type ProviderContext, type ProviderConfig } from '../../providers/registry.js'
import type { AddressSettings, EndpointSettings } from '../../providers/schemas/endpoints.js'
import { exchange, exchangeStream, type ExchangeOptions } from './exchange.js'
import { ResilientCalls, type ResilienceOptions, type ResilienceTools } from './resilient-calls.js'

const VARIABLE_NAME = /^(?:[A-Z]{1,24}|[A-Z][A-Z0-9]{0,31}(?:_[A-Z0-9]{1,32}){1,7})$/

export type RemoteContext = ProviderContext

/** Replacements of clock, timer and random numbers for tests. */
export type RemoteTools = Partial<ResilienceTools & { clock: Clock }>

interface Post {
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
}

export interface Endpoint {
  /** Name of the endpoint in messages: `embedding endpoint`. */
  readonly service: string
  readonly baseUrl: string
  readonly queryParams: Readonly<Record<string, string>>
  /** Values that no message may contain. */
  readonly secrets: readonly string[]
  /**
   * One POST of JSON with the configured headers and its answer; see exchange().
   * @param maxBytes of the answer
   */
  post (url: string, request: Post, maxBytes: number): Promise<string>
  /** One POST whose answer is streamed; see exchangeStream(). */
  postForStream (url: string, request: Post, maxBytes: number): Promise<ReadableStream<Uint8Array>>
}

/** An endpoint with bounds for its calls. */
export interface CalledEndpoint extends Endpoint {
  readonly calls: ResilientCalls
}

/** How a key is sent: the name of the header and its value. */
type KeyHeader = (key: string) => Readonly<Record<string, string>>

const bearer: KeyHeader = (key) => ({ authorization: `Bearer ${key}` })

/** The checked address, key and headers of an endpoint. */
interface Address {
  baseUrl: string
  apiKey: string | undefined
  headers: Record<string, string>
}

/**
 * Checks what can be checked of an endpoint without a call, also for `config check`.
 * @param key as for openAddress()
 * @throws ProviderError that names the wrong setting and shows no value
 */
export function checkAddress (
  key: string, settings: AddressSettings, context: RemoteContext, keyHeader: KeyHeader = bearer,
): Address {
  const baseUrl = checkUrl(key, settings.base_url)
  const apiKey = readKey(key, settings, context)
  const headers = checkHeaders(key, apiKey === undefined ? {} : keyHeader(apiKey), settings.headers)
  return { baseUrl, apiKey, headers }
}

/**
 * Reads the address, the key and the headers of an endpoint.
 * @param key the map of the settings in the configuration, for messages: `embedding_provider_config`
 * @throws ProviderError that names the wrong setting and shows no value
 */
export function openAddress (
  key: string,
  service: string,
  settings: AddressSettings,
  context: RemoteContext,
  { clock = systemClock }: RemoteTools,
  keyHeader: KeyHeader = bearer,
): Endpoint {
  const { baseUrl, apiKey, headers } = checkAddress(key, settings, context, keyHeader)
  const { query_params: queryParams } = settings
  const secrets = [
    apiKey ?? '', ...Object.values(headers), ...Object.values(queryParams),
  ].filter((secret) => secret !== '')
  const complete = (request: Post) => (
    { ...request, headers: new Headers({ ...Object.fromEntries(new Headers(request.headers)), ...headers }) }
  )
  const options = (maxBytes: number): ExchangeOptions => ({ service, maxBytes, secrets, clock })
  return {
    service,
    baseUrl,
    queryParams,
    secrets,
    post: async (url, request, maxBytes) => await exchange(url, complete(request), options(maxBytes)),
    postForStream: async (url, request, maxBytes) => await exchangeStream(url, complete(request), options(maxBytes)),
  }
}

/** As openAddress(), with bounds for the calls. */
export function openEndpoint (
  key: string,
  service: string,
  settings: EndpointSettings,
  limits: Pick<ResilienceOptions, 'attemptTimeoutMs' | 'maxRetries'>,
  context: RemoteContext,
  tools: RemoteTools,
): CalledEndpoint {
  const address = openAddress(key, service, settings, context, tools)
  const calls = new ResilientCalls({
    service,
    ...limits,
    maxConcurrency: settings.max_concurrency,
    maxWaiting: settings.max_waiting,
    breaker: { threshold: settings.breaker.threshold, recoveryMs: settings.breaker.recovery_ms },
    tools,
  })
  return { ...address, calls }
}

function checkUrl (key: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && [url.username, url.password, url.search, url.hash].every((part) => part === '')
  if (plain) return text.replace(/\/+$/, '')
  throw new ProviderError(`${key}.base_url: must be an http or https URL without user, password, query and fragment; ` +
    'a key belongs in api_key or headers, a query in query_params (the value is not shown)')
}

function readKey (
  key: string, settings: AddressSettings, { baseDirectory, environment = {} }: RemoteContext,
): string | undefined {
  const { api_key: plain, api_key_env: variable, api_key_file: path } = settings
  const names = (['api_key', 'api_key_env', 'api_key_file'] as const).filter((name) => settings[name] !== undefined)
  if (names.length > 1) throw new ProviderError(`${key}: only one of ${names.join(', ')} may be set`)
  if (variable !== undefined) {
    const value = environment[variable]
    if (value === undefined || value === '') {
      throw new ProviderError(`${key}.api_key_env: ${variableInWords(variable)} is not set`)
    }
    return value
  }
  return path === undefined ? plain : readKeyFile(`${key}.api_key_file`, resolve(baseDirectory, path))
}

/** The value may be a key by mistake, so it is shown only when it has the usual form of a variable's name. */
function variableInWords (name: string): string {
  if (VARIABLE_NAME.test(name)) return `the environment variable ${name}`
  return 'the environment variable that it names (not shown, since it is not written like OPENAI_API_KEY)'
}

/** The text of the file without the newline that editors put at its end. */
function readKeyFile (field: string, path: string): string {
  let text: string
  try {
    // Fatal, because a replaced byte would silently change the key.
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new ProviderError(`${field}: the file cannot be read${code}`)
  }
  const value = text.replace(/\r?\n$/, '')
  if (value === '') throw new ProviderError(`${field}: the file is empty`)
  return value
}

/** Checks the headers at the start, because the error of fetch would contain a value that it cannot send. */
function checkHeaders (
  key: string, keyHeaders: Readonly<Record<string, string>>, ownHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers = new Headers()
  for (const [name, value] of Object.entries({ ...keyHeaders, ...ownHeaders })) {
    try {
      headers.set(name, value)
    } catch {
      const shown = /^[\w-]{1,64}$/.test(name) ? `.headers.${name}:` : ': one of headers'
      const which = Object.hasOwn(ownHeaders, name) ? shown : ': the key'
      throw new ProviderError(`${key}${which} cannot be sent in an HTTP header (the value is not shown)`)
    }
  }
  return Object.fromEntries(headers)
}

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
