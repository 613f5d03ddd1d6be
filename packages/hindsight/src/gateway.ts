import { Ajv, type ErrorObject } from 'ajv'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MemoryGatewayClient, MemoryGatewayError, type ErrorBody, type ErrorCode } from 'memory-gateway-client'
import { Type, type TProperties } from 'typebox'

export interface HindsightOptions {
  /** The URL of the gateway, for instance `http://127.0.0.1:8080`. */
  gateway: string
  /**
   * For a gateway in auth mode `api_key`, whose key Hindsight's client sends as a bearer token: the principal of
   * callers who send no `X-Service-Principal`. Without this option the token is passed on as it is.
   */
  apiKeyPrincipal?: string | undefined
}

export const BANK = '/v1/default/banks/:bank_id'

/** Milliseconds until a call of the gateway fails, which takes longest for an answer of a language model. */
const TIMEOUT_MS = 300_000

/** Headers that the gateway reads; all others end here. */
const PASSED_ON = [
  'authorization', 'x-api-key', 'x-service-principal', 'x-service-on-behalf-of', 'x-request-id', 'traceparent',
  'tracestate',
]

/** A refusal by this API itself, in the gateway's form. */
export class Refusal extends Error {
  constructor (readonly status: number, readonly code: ErrorCode, message: string, readonly errors?: FieldErrors) {
    super(message)
  }
}

type FieldErrors = NonNullable<ErrorBody['errors']>

function invalidFields (errors: FieldErrors): Refusal {
  return new Refusal(
    400, 'invalid_request', errors.map(({ field, message }) => `${field}: ${message}`).join('; '), errors,
  )
}

/** The error 501 for a part of a request that the gateway does not support. */
export const unsupported = (what: string, why: string) => new Refusal(501, 'not_supported', `${what}: ${why}`)
export const invalid = (field: string, message: string) => invalidFields([{ field, message }])
export const notFound = (what: string) => new Refusal(404, 'not_found', what)

/** The gateway for the caller of a request, whose headers it gets. Its calls end when the caller leaves. */
export function clientFor (
  request: FastifyRequest, reply: FastifyReply, { gateway, apiKeyPrincipal }: HindsightOptions,
): MemoryGatewayClient {
  const leaving = new AbortController()
  reply.raw.once('close', () => { leaving.abort() })
  const headers: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const [, key] = /^bearer +(.+)$/i.exec(headers['authorization'] ?? '') ?? []
  if (apiKeyPrincipal !== undefined && key !== undefined && headers['x-api-key'] === undefined) {
    delete headers['authorization']
    headers['x-api-key'] = key
    headers['x-service-principal'] ??= apiKeyPrincipal
  }
  return new MemoryGatewayClient({
    baseUrl: gateway,
    headers,
    retries: 0,
    timeoutMs: TIMEOUT_MS,
    fetch: async (input, init) => {
      const signals = [leaving.signal, init?.signal].filter((signal) => signal instanceof AbortSignal)
      return await fetch(input, { ...init, signal: AbortSignal.any(signals) })
    },
  })
}

/** The caller's names of fields, by the gateway's own. */
export type SentNames = ReadonlyMap<string, string>

/** An operation of the gateway whose fields the caller knows by other names. */
export async function withSentNames<T> (names: SentNames, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    const errors = error instanceof MemoryGatewayError ? error.body?.errors ?? [] : []
    if (errors.length === 0) throw error
    throw invalidFields(errors.map(({ field, message }) => ({ field: names.get(field) ?? field, message })))
  })
}

/** An object without other members than these. */
export const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

export function withoutUndefined<T extends object> (object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** Checks requests strictly, and answers errors in the gateway's form. */
export function setRules (app: FastifyInstance): void {
  const bodies = new Ajv({ strict: false })
  const queries = new Ajv({ strict: false, coerceTypes: 'array' })
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const check = (httpPart === 'body' ? bodies : queries).compile<unknown>(schema)
    return (sent: unknown) => {
      const value = withoutNulls(sent)
      if (check(value)) return { value }
      const error = invalid(...problemOf(check.errors?.[0]))
      return { error }
    }
  })
  app.setErrorHandler((error, request, reply) => {
    const { status, ...body } = answerTo(error)
    if (status >= 500 && status !== 501) request.log.error(error)
    if (body.retry_after_seconds !== undefined) reply.header('retry-after', String(body.retry_after_seconds))
    return reply.code(status).send({ request_id: request.id, ...body })
  })
}

/** Members whose values are the caller's own, so that null is a value there. */
const OWN_VALUES = new Set(['metadata', 'response_schema', 'updates'])

/** Hindsight's clients send null for what is absent. */
function withoutNulls (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null).map(([name, member]) => (
    [name, OWN_VALUES.has(name) ? member : withoutNulls(member)]
  )))
}

function problemOf (error: ErrorObject | undefined): [field: string, message: string] {
  const { instancePath = '', message = 'is invalid', keyword, params } = error ?? {}
  const path = instancePath.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.').replace(/^\./, '')
  const below = (name: unknown) => path === '' ? String(name) : `${path}.${String(name)}`
  if (keyword === 'additionalProperties') return [below(params?.['additionalProperty']), 'is not a known field']
  if (keyword === 'required') return [below(params?.['missingProperty']), 'is required']
  return [path === '' ? 'body' : path, message]
}

function answerTo (error: unknown): Partial<ErrorBody> & { status: number } {
  if (error instanceof Refusal) {
    const { status, code, message, errors } = error
    return { status, code, detail: message, ...(errors && { errors }) }
  }
  if (error instanceof MemoryGatewayError) {
    const { status = 502, body } = error
    return status >= 400 && body?.code !== undefined
      ? { ...body, status }
      : { status: 502, code: 'dependency_unavailable', detail: 'The gateway does not answer' }
  }
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? Number(error.statusCode) : 500
  return status >= 400 && status < 500 && error instanceof Error
    ? { status, code: 'invalid_request', detail: error.message }
    : { status: 500, code: 'internal_error', detail: 'The request failed' }
}
