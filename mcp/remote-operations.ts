import type { Static, TSchema } from 'typebox'
import { withTimeLimit } from '../lib/concurrency/deadline.js'
import { readBounded } from '../lib/concurrency/read-bounded.js'
import { BoundsSchema } from '../lib/config/bounds.js'
import { invalidField, type FieldError } from '../lib/errors/service-error.js'
import { IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey } from '../lib/memory/idempotency.js'
import {
  BankAnswer, BanksAnswer, ForgetAnswer, MemoriesAnswer, MemoryRecord, RecallAnswer, ReflectAnswer, RetainAnswer,
} from '../lib/memory/schemas.js'
import { schemaCheck } from '../lib/validation/schema-check.js'
import type { CallOptions, MemoryOperations, WriteOptions } from './operations.js'
import { RemoteError } from './remote-error.js'
import { withoutUndefined } from '../lib/validation/members.js'
import { isJsonObject, parsedJson } from '../lib/validation/json-object.js'

/** A server, and the credentials of the caller. */
export interface ServerConnection {
  /** `https://memory.example.com` for instance; a path before `/v1` is kept. */
  url: string
  apiKey?: string | undefined
  token?: string | undefined
  principal?: string | undefined
}

/** The time that one call may take. */
const TIMEOUT_MS = 60_000
/** The most bytes of an answer. */
const ANSWER_BYTES = BoundsSchema.properties.answer_bytes.default

interface Exchange {
  method?: string
  body?: object
  idempotencyKey?: string | undefined
}

type Ask = <S extends TSchema>(schema: S, path: string, exchange: Exchange, signal: AbortSignal) => Promise<Static<S>>

/** The operations of a server, over its HTTP API. The server decides access before it validates. */
export function remoteOperations (connection: ServerConnection): MemoryOperations {
  const ask = asking(connection)
  const post = async <S extends TSchema>(
    schema: S, path: string, body: object, { signal, idempotencyKey: key }: WriteOptions,
  ) => {
    // The server would name its header, which the tool does not have, and fetch does not send every text in one.
    if (key !== undefined && !isIdempotencyKey(key)) {
      throw invalidField('idempotency_key', `must be ${IDEMPOTENCY_KEY_IN_WORDS}`)
    }
    return await ask(schema, path, { method: 'POST', body, idempotencyKey: key }, signal)
  }
  const get = async <S extends TSchema>(schema: S, path: string, { signal }: CallOptions) => (
    await ask(schema, path, {}, signal)
  )
  return {
    checkAccess: () => undefined,
    retain: async (request, call) => await post(RetainAnswer, '/v1/retain', request, call),
    recall: async (request, call) => await post(RecallAnswer, '/v1/recall', request, call),
    reflect: async (request, call) => await post(ReflectAnswer, '/v1/reflect', request, call),
    forget: async (request, call) => await post(ForgetAnswer, '/v1/forget', request, call),
    listBanks: async (query, call) => await get(BanksAnswer, `/v1/banks${queryString(query)}`, call),
    getBank: async (bankId, call) => await get(BankAnswer, bankPath(bankId), call),
    listMemories: async (bankId, query, call) => (
      await get(MemoriesAnswer, `${bankPath(bankId)}/memories${queryString(query)}`, call)
    ),
    getMemory: async (bankId, memoryId, call) => (
      await get(MemoryRecord, `${bankPath(bankId)}/memories/${encodeURIComponent(memoryId)}`, call)
    ),
  }
}

function bankPath (bankId: string): string {
  return `/v1/banks/${encodeURIComponent(bankId)}`
}

function queryString (query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== undefined) parameters.append(name, String(each))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

function asking ({ url, apiKey, token, principal }: ServerConnection): Ask {
  const base = url.replace(/\/+$/, '')
  const credentials = withoutUndefined({
    'x-api-key': apiKey,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    // fetch sends each character of a header as one byte, and the gateway reads UTF-8.
    'x-service-principal': principal === undefined ? undefined : Buffer.from(principal).toString('latin1'),
  })
  return async (schema, path, { method = 'GET', body, idempotencyKey }, signal) => {
    const request = {
      method,
      headers: withoutUndefined({
        accept: 'application/json',
        ...credentials,
        'content-type': body === undefined ? undefined : 'application/json',
        'idempotency-key': idempotencyKey,
      }),
      body: body === undefined ? null : JSON.stringify(body),
      // Credentials must not follow a redirect to another server.
      redirect: 'error',
    } as const
    const { response, text } = await withTimeLimit(TIMEOUT_MS, signal, async (limited) => {
      try {
        const response = await fetch(`${base}${path}`, { ...request, signal: limited })
        return { response, text: await readText(response, limited) }
      } catch (cause) {
        if (cause instanceof RemoteError) throw cause
        limited.throwIfAborted()
        throw new RemoteError('connection_lost', `The connection to ${base} failed`, { cause })
      }
    }, () => new RemoteError('timed_out', `The server did not answer within ${TIMEOUT_MS} ms`))
    const value = parsedJson(text)
    if (!response.ok) throw refusalOf(response, value)
    try {
      return checkOf(schema)(value)
    } catch (cause) {
      throw new RemoteError('unusable_answer', 'The answer is not one of a memory gateway; check the URL', { cause })
    }
  }
}

async function readText ({ body }: Response, signal: AbortSignal): Promise<string> {
  if (body === null) return ''
  return await readBounded(body, ANSWER_BYTES, signal, () => (
    new RemoteError('unusable_answer', `The answer of the server is larger than ${ANSWER_BYTES} bytes`)
  ))
}

function refusalOf ({ status, headers }: Response, value: unknown): RemoteError {
  const body = typeof value === 'object' && value !== null ? value : {}
  const code: unknown = Reflect.get(body, 'code')
  const detail: unknown = Reflect.get(body, 'detail')
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  return new RemoteError(
    typeof code === 'string' ? code : 'unusable_answer',
    typeof detail === 'string' ? detail : `The server answered with status ${status}`,
    {
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
      requestId: headers.get('x-request-id') ?? undefined,
      errors: fieldErrorsOf(Reflect.get(body, 'errors')),
    },
  )
}

function fieldErrorsOf (value: unknown): FieldError[] | undefined {
  if (!Array.isArray(value)) return undefined
  const errors = value.flatMap((each: unknown) => {
    if (!isJsonObject(each)) return []
    const { field, message } = each
    return typeof field === 'string' && typeof message === 'string' ? [{ field, message }] : []
  })
  return errors.length > 0 ? errors : undefined
}

const checks = new WeakMap<TSchema, (value: unknown) => unknown>()

/** Checks an answer against its schema, except for members that a newer server may have added. */
function checkOf<S extends TSchema> (schema: S): (value: unknown) => Static<S> {
  let check = checks.get(schema)
  if (check === undefined) {
    const open = JSON.parse(JSON.stringify(schema), (key, value: unknown) => (
      key === 'additionalProperties' && value === false ? undefined : value
    )) as S
    checks.set(schema, check = schemaCheck(open))
  }
  return check as (value: unknown) => Static<S>
}
