import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { linkedAbort } from '../../base/aborting.js'
import { systemClock, type Clock } from '../../base/clock.js'
import { forEachConcurrently } from '../../base/for-each-concurrently.js'
import { parsedJson } from '../../base/json-object.js'
import { boundedBody, readBounded } from '../../base/read-bounded.js'
import { ProviderError, type ProviderContext, type ProviderConfig } from '../../config/providers/registry.js'
import type { AddressSettings, EndpointSettings } from '../../config/providers/schemas/endpoints.js'
import { ModelCallError } from './model-call-error.js'
import { ResilientCalls, type ResilienceOptions, type ResilienceTools } from './resilient-calls.js'

const VARIABLE_NAME = /^(?:[A-Z]{1,24}|[A-Z][A-Z0-9]{0,31}(?:_[A-Z0-9]{1,32}){1,7})$/

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
   * One POST with the configured headers.
   * @param maxBytes of the answer after decompression
   * @returns the body of a 2xx answer
   * @throws ModelCallError, which contains only the status and the error code of the answer, and nothing of the request
   */
  post (url: string, request: Post, maxBytes: number): Promise<string>
  /**
   * As post(), with an answer that is streamed with back-pressure and fails with a ModelCallError like that of post(),
   * or with the reason of the signal. Cancelling it closes the connection.
   */
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
  key: string, settings: AddressSettings, context: ProviderContext, keyHeader: KeyHeader = bearer,
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
  context: ProviderContext,
  { clock = systemClock }: RemoteTools,
  keyHeader: KeyHeader = bearer,
): Endpoint {
  const { baseUrl, apiKey, headers } = checkAddress(key, settings, context, keyHeader)
  const { query_params: queryParams } = settings
  const secrets = [
    apiKey ?? '', ...Object.values(headers), ...Object.values(queryParams),
  ].filter((secret) => secret !== '')
  const sent = async (url: string, request: Post, maxBytes: number) => {
    const all = new Headers({ ...Object.fromEntries(new Headers(request.headers)), ...headers })
    return bounded(await send(url, all, request, { service, secrets, clock }), request.signal, service, maxBytes)
  }
  return {
    service,
    baseUrl,
    queryParams,
    secrets,
    post: async (...request) => await readBounded(...await sent(...request)),
    postForStream: async (...request) => boundedBody(...await sent(...request)),
  }
}

/** As openAddress(), with bounds for the calls. */
export function openEndpoint (
  key: string,
  service: string,
  settings: EndpointSettings,
  limits: Pick<ResilienceOptions, 'attemptTimeoutMs' | 'maxRetries'>,
  context: ProviderContext,
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
  key: string, settings: AddressSettings, { baseDirectory, environment = {} }: ProviderContext,
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

/** Bytes of an error answer that are read; it may be a whole HTML page, without an error code. */
const MAX_ERROR_BYTES = 64 * 1024
/** A longer pause than a day that an endpoint asks for is read as a day; digits without end would be infinite. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
const ERROR_CODE = /^[a-z][a-z0-9_.-]{1,63}$/i

async function send (
  url: string, headers: Headers, { body, signal }: Post,
  { service, secrets, clock }: Pick<Endpoint, 'service' | 'secrets'> & { clock: Clock },
): Promise<Response> {
  let response: Response
  try {
    // Following a redirect could send the key to another host.
    response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  } catch (error) {
    signal.throwIfAborted()
    throw new ModelCallError('unreachable', `The ${service} cannot be reached${networkCode(error)}`)
  }
  if (response.ok) return response
  const text = await readBounded(...bounded(response, signal, service, MAX_ERROR_BYTES)).catch((error: unknown) => {
    if (!(error instanceof ModelCallError)) throw error
    return ''
  })
  throw statusError(service, response, codeOf(parsedJson(text), secrets), clock)
}

/** The arguments with which an answer is read. */
function bounded (
  { status, body }: Response, signal: AbortSignal, service: string, maxBytes: number,
): Parameters<typeof boundedBody> {
  return [
    body ?? new Blob([]).stream(), maxBytes, signal,
    () => new ModelCallError('unusable', `The ${service} answered with more than ${maxBytes} bytes`, { status }),
    (error) => new ModelCallError('unreachable', `The ${service} broke off its answer${networkCode(error)}`),
  ]
}

function statusError (service: string, { status, headers }: Response, code: string, clock: Clock): ModelCallError {
  const retryAfterMs = retryAfter(headers, clock)
  const details = { status, retryAfterMs }
  const message = `The ${service} answered ${status}${code}`
  if (status === 429) return new ModelCallError('rate_limited', message, details)
  if (status === 408 || status === 409 || status >= 500) return new ModelCallError('unreachable', message, details)
  if (status >= 300 && status < 400) {
    const hint = 'a redirect, which is not followed; base_url must name the endpoint itself'
    return new ModelCallError('rejected', `${message}: ${hint}`, { status })
  }
  return new ModelCallError('rejected', message, { status })
}

/** The error of a 2xx answer that reports an error in its body, in the form of an error answer. */
export function errorWithin (service: string, error: unknown, secrets: readonly string[]): ModelCallError {
  const isLimit = member(error, 'type') === 'rate_limit_error' || member(error, 'code') === 429
  const kind = isLimit ? 'rate_limited' : 'unreachable'
  return new ModelCallError(kind, `The ${service} ended its answer with an error${codeOf(error, secrets)}`)
}

/**
 * @returns milliseconds, at most a day (RFC 9110 section 10.2.3: whole seconds or a date); undefined when nothing
 *   usable is said
 */
function retryAfter (headers: Headers, clock: Clock): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS)
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? undefined : Math.min(Math.max(0, instant - clock()), MAX_RETRY_AFTER_MS)
}

/**
 * The machine-readable code or type of an error, like ` (model_not_found)`. The rest of the answer is left out, because
 * it may repeat the texts or the key.
 */
function codeOf (answer: unknown, secrets: readonly string[]): string {
  const places = [member(answer, 'error'), answer]
  const isSecret = (value: string) => secrets.some((secret) => value.includes(secret) || secret.includes(value))
  const found = places.flatMap((place) => [member(place, 'code'), member(place, 'type'), member(place, 'error_type')])
    .find((value): value is string => typeof value === 'string' && ERROR_CODE.test(value) && !isSecret(value))
  return found === undefined ? '' : ` (${found})`
}

function networkCode (error: unknown): string {
  const code = member(error instanceof Error ? error.cause : undefined, 'code')
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? ` (${code})` : ''
}

/** A member of parsed JSON, of which nothing is known; undefined when there is none. */
export function member (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

interface BatchOptions {
  size: number
  /** Batches in progress at a time. Default: all of them. */
  width?: number
  signal: AbortSignal | undefined
}

/**
 * Divides items into batches and does the work for each. The first batch that fails ends the others, because the caller
 * needs the results of all.
 * @returns the results in the order of the items
 */
export async function inBatches<T, R> (
  items: readonly T[], { size, width = Infinity, signal }: BatchOptions,
  work: (batch: readonly T[], signal: AbortSignal) => Promise<readonly R[]>,
): Promise<R[]> {
  const batches: Array<readonly T[]> = []
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size))
  const results: Array<readonly R[]> = []
  const { controller, unlink } = linkedAbort(signal)
  try {
    await forEachConcurrently(batches.entries(), width, async ([index, batch]) => {
      results[index] = await work(batch, controller.signal)
    })
  } catch (error) {
    controller.abort(error)
    throw error
  } finally {
    unlink()
  }
  return results.flat()
}
