import { boundedBody, readBounded } from '../../concurrency/read-bounded.js'
import type { Clock } from '../../time/clock.js'
import { ModelCallError } from './model-call-error.js'
import { parsedJson } from '../../validation/json-object.js'

/** Bytes of an error answer that are read; it may be a whole HTML page, without an error code. */
const MAX_ERROR_BYTES = 64 * 1024
/** A longer pause than a day that an endpoint asks for is read as a day; digits without end would be infinite. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
const ERROR_CODE = /^[a-z][a-z0-9_.-]{1,63}$/i

export interface ExchangeOptions {
  /** Name of the endpoint in messages: `embedding endpoint`. */
  service: string
  /** Maximum bytes of an answer after decompression. */
  maxBytes: number
  /** Values that no message may contain. */
  secrets: readonly string[]
  /** For a Retry-After that is a date. */
  clock: Clock
}

interface ExchangeRequest {
  headers: Headers
  body: string
  signal: AbortSignal
}

/**
 * One POST and its whole answer.
 * @returns the body of a 2xx answer
 * @throws ModelCallError, which contains only the status and the error code of the answer, and nothing of the request
 */
export async function exchange (url: string, request: ExchangeRequest, options: ExchangeOptions): Promise<string> {
  return await read(await send(url, request, options), request.signal, options)
}

/**
 * One POST whose answer is streamed with back-pressure; cancelling the stream closes the connection.
 * @returns the body of a 2xx answer, which fails with a ModelCallError like that of exchange(), or with the signal's
 *   reason
 * @throws as exchange()
 */
export async function exchangeStream (
  url: string, request: ExchangeRequest, options: ExchangeOptions,
): Promise<ReadableStream<Uint8Array>> {
  const response = await send(url, request, options)
  return boundedBody(...bounded(response, request.signal, options))
}

async function send (
  url: string, { headers, body, signal }: ExchangeRequest, options: ExchangeOptions,
): Promise<Response> {
  const { service, secrets, clock } = options
  let response: Response
  try {
    // Following a redirect could send the key to another host.
    response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  } catch (error) {
    signal.throwIfAborted()
    throw new ModelCallError('unreachable', `The ${service} cannot be reached${networkCode(error)}`)
  }
  if (response.ok) return response
  const text = await read(response, signal, { ...options, maxBytes: MAX_ERROR_BYTES }).catch((error: unknown) => {
    if (!(error instanceof ModelCallError)) throw error
    return ''
  })
  throw statusError(service, response, codeOf(parsedJson(text), secrets), clock)
}

async function read (response: Response, signal: AbortSignal, options: ExchangeOptions): Promise<string> {
  return await readBounded(...bounded(response, signal, options))
}

/** The arguments with which an answer is read. */
function bounded (
  { status, body }: Response, signal: AbortSignal, { service, maxBytes }: ExchangeOptions,
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
