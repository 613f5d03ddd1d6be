import { errorOf, MAX_ANSWER_BYTES, MemoryGatewayError, parseObject, readText } from './errors.js'
import type { CallOptions, ClientOptions, Timing, WriteOptions } from './options.js'
import { hasLostAnswer, isRetriable, retryDelay, type Safety } from './retry.js'
import { linesOf } from './streams.js'
import { Deadline, systemTiming, untilAborted } from './timing.js'

const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_RETRIES = 4

/** A request to the gateway. */
export interface Call {
  /** Members that every answer of the operation has, so that another JSON document is not taken for one. */
  answer?: readonly string[]
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With a leading slash, percent-encoded. */
  path: string
  query?: object
  /** Sent as JSON, of the type `application/json` unless the headers name another. */
  json?: object
  body?: Blob
  headers?: Record<string, string | undefined>
  /** A `keyed` call gets an Idempotency-Key, one for all attempts. */
  safety: Safety
}

/** Checks a base URL. Its error does not contain the value, which may contain a password. */
function normalizeBaseUrl (baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl) : undefined
  const isAllowed = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isAllowed || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl must be an http or https URL without credentials, query and fragment')
  }
  return url.href.replace(/\/+$/, '')
}

/** A timeout that is not a number would end every call at once. */
function checkNumbers ({ timeoutMs = 1, retries = 0 }: CallOptions): void {
  if (!(timeoutMs > 0)) throw new RangeError('timeoutMs must be a number above 0')
  if (!(retries >= 0)) throw new RangeError('retries must be a number from 0')
}

/** Sends requests with the caller's credentials, and retries them where that is safe. */
export class Transport {
  readonly #base: string
  readonly #options: ClientOptions
  readonly #timing: Timing
  readonly #fetch: typeof globalThis.fetch

  constructor (options: ClientOptions) {
    this.#base = normalizeBaseUrl(options.baseUrl)
    checkNumbers(options)
    this.#options = options
    this.#timing = { ...systemTiming, ...options.timing }
    // A browser's fetch throws when called as a method of another object.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  }

  /** The JSON object of the answer. */
  async json<Answer> ({ headers, answer: members = [], ...rest }: Call, options: WriteOptions = {}): Promise<Answer> {
    const key = rest.safety === 'keyed' ? options.idempotencyKey ?? createKey() : undefined
    const call = { ...rest, headers: { ...headers, 'idempotency-key': key } }
    const deadline = this.#deadline(options)
    try {
      return await this.#sendWithRetries(call, options, deadline, async (response) => {
        const text = await readText(response)
        if (text === undefined) throw unusableAnswer(response, `The answer has more than ${MAX_ANSWER_BYTES} bytes`)
        const answer = parseObject(text)
        if (answer === undefined) throw unusableAnswer(response, 'The answer is not a JSON object')
        const missing = members.find((member) => !Object.hasOwn(answer, member))
        if (missing !== undefined) throw unusableAnswer(response, `The answer has no member ${missing}`)
        // The gateway follows its OpenAPI document, so the members are not validated.
        return answer as Answer
      })
    } finally {
      deadline.dispose()
    }
  }

  /** The lines of the answer, received as fast as they are read. The connection closes when reading stops. */
  async * lines (call: Call, contentType: string, options: CallOptions = {}): AsyncGenerator<string, void> {
    const deadline = this.#deadline(options)
    const { signal } = deadline
    let requestId: string | undefined
    try {
      const response = await this.#sendWithRetries(call, options, deadline, async (answer) => {
        if (answer.headers.get('content-type')?.startsWith(contentType) !== true) {
          // An unread body would keep its connection open.
          void answer.body?.cancel().catch(() => {})
          throw unusableAnswer(answer, `The answer is not of type ${contentType}`)
        }
        return answer
      })
      requestId = requestIdOf(response)
      for await (const line of linesOf(response, deadline)) {
        signal.throwIfAborted()
        yield line
      }
    } catch (error) {
      throw this.#toGatewayError(error, deadline, options, requestId)
    } finally {
      deadline.dispose()
    }
  }

  #deadline (options: CallOptions): Deadline {
    checkNumbers(options)
    const { timeoutMs, signal } = options
    return new Deadline(timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal)
  }

  async #sendWithRetries<Result> (
    call: Call, options: CallOptions, deadline: Deadline, read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { random, sleep, now } = this.#timing
    const { token } = this.#options
    const retries = options.retries ?? this.#options.retries ?? DEFAULT_RETRIES
    let rejected: string | undefined
    let hasLostOne = false
    for (let attempt = 0; ;) {
      options.signal?.throwIfAborted()
      const bearer = typeof token === 'function'
        ? await this.#awaitWithin(untilAborted(token(rejected), deadline.signal), deadline, options)
        : token
      const request = this.#request(call, options, bearer, deadline.signal)
      let failure: MemoryGatewayError
      try {
        const response = await this.#fetch(...request)
        if (response.ok) return await read(response)
        failure = await errorOf(response, now)
      } catch (error) {
        failure = this.#toGatewayError(error, deadline, options)
      }
      if (failure.status === 401 && typeof token === 'function' && rejected === undefined) {
        rejected = bearer
        continue
      }
      hasLostOne ||= hasLostAnswer(failure)
      const delay = retryDelay(attempt, failure, random)
      // Waiting for an attempt whose answer was lost is not a new attempt: only the deadline limits it.
      const isWaitingForResult = hasLostOne && failure.code === 'idempotency_key_in_flight'
      if (!isWaitingForResult && attempt++ >= retries) throw failure
      if (!isRetriable(failure, call.safety) || delay >= deadline.remaining) throw failure
      await this.#awaitWithin(sleep(delay, deadline.signal), deadline, options)
    }
  }

  /** Awaits work. Throws its error, or the reason for which the call has ended in the meantime. */
  async #awaitWithin<Result> (work: Promise<Result>, deadline: Deadline, options: CallOptions): Promise<Result> {
    return await work.catch((error: unknown) => {
      throw deadline.signal.aborted ? this.#toGatewayError(error, deadline, options) : error
    })
  }

  #request (
    { method, path, query = {}, json, body: bytes, headers }: Call, { requestId }: CallOptions,
    bearer: string | undefined, signal: AbortSignal,
  ): [url: string, init: RequestInit] {
    const { apiKey, principal, onBehalfOf } = this.#options
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query) as Array<[string, unknown]>) {
      for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one))
    }
    // Throws here for an invalid header, so that this mistake of the caller is not reported as a lost connection.
    const allHeaders = new Headers(this.#options.headers)
    const callHeaders = {
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
      'x-api-key': apiKey,
      'x-service-principal': asUtf8(principal),
      'x-service-on-behalf-of': asUtf8(onBehalfOf),
      'x-request-id': requestId,
      authorization: bearer === undefined ? undefined : `Bearer ${bearer}`,
    }
    for (const [name, value] of Object.entries(callHeaders)) if (value !== undefined) allHeaders.set(name, value)
    const url = `${this.#base}${path}?${search}`.replace(/\?$/, '')
    const body = json === undefined ? bytes : JSON.stringify(json)
    // Following a redirect could send the credentials to another server.
    return [url, { method, headers: allHeaders, signal, redirect: 'manual', ...(body !== undefined && { body }) }]
  }

  /** Converts an error of a call. @throws the reason of the caller's signal if that has ended the call */
  #toGatewayError (
    error: unknown, deadline: Deadline, options: CallOptions, requestId = options.requestId,
  ): MemoryGatewayError {
    options.signal?.throwIfAborted()
    if (error instanceof MemoryGatewayError) return error
    const details = { cause: error, requestId }
    return deadline.isExpired
      ? new MemoryGatewayError('timed_out', 'The answer did not arrive in time', details)
      : new MemoryGatewayError('connection_lost', 'The connection failed', details)
  }
}

function unusableAnswer (response: Response, message: string): MemoryGatewayError {
  const { status } = response
  return new MemoryGatewayError('unusable_answer', message, { status, requestId: requestIdOf(response) })
}

function requestIdOf ({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined
}

/** fetch sends each character of a header as one byte, and the gateway reads UTF-8. */
function asUtf8 (text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

/** A random key of 128 bits. `crypto.randomUUID` does not exist on pages without TLS. */
function createKey (): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
