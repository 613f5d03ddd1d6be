import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { rateLimitHeaders } from '../http/rate-limit-headers.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { invalidField } from '../lib/base/service-error.js'
import type { RequestContext } from '../lib/access/context.js'
import { type Precondition, UNSET_ETAG } from '../lib/operations/bank-configurations.js'
import type { IdempotencyKey } from '../lib/operations/idempotency.js'
import { strict } from '../lib/operations/schemas.js'
import type { RateState } from '../lib/operations/admission.js'
import type { Call } from '../lib/operations/dependencies.js'
import type { Operation } from '../lib/operations/operation.js'
import { IdempotencyHeaders, idempotencyOf } from './idempotency.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, IDEMPOTENCY_ERRORS, withHeaders } from './responses.js'

/** RFC 9110 section 8.8.3. A tag may contain commas. */
const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7e]*"`
const ENTITY_TAGS = new RegExp(`^${ENTITY_TAG}(?:[ \\t]*,[ \\t]*${ENTITY_TAG})*$`)
const EACH_ENTITY_TAG = new RegExp(ENTITY_TAG, 'g')

/** The schema for the OpenAPI document; preconditionOf() checks the values. */
const IfMatch = {
  'if-match': Type.Optional(Type.String({
    maxLength: 4096,
    description: 'Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them ' +
      'is in force. That of a memory is its version in quotes.',
    examples: ['"hXZQ0b1rmzKq7yTnW5cJfA"'],
  })),
}
const Preconditions = Type.Object({
  ...IfMatch,
  'if-none-match': Type.Optional(Type.String({
    description: 'Only `*`: nothing is changed if a configuration is set. Not together with If-Match.',
    examples: ['*'],
  })),
})

/**
 * Reads If-Match and If-None-Match (RFC 9110, section 13.1); a weak or unknown tag matches no configuration.
 * @throws ServiceError invalid_request
 */
function preconditionOf ({ headers }: FastifyRequest): Precondition | undefined {
  const value = headers['if-match']?.trim()
  const none = headers['if-none-match']?.trim()
  if (none !== undefined) {
    if (none !== '*') throw invalidField('If-None-Match', 'must be *')
    if (value !== undefined) throw invalidField('If-None-Match', 'cannot be sent together with If-Match')
    return [UNSET_ETAG]
  }
  if (value === undefined) return undefined
  if (value === '*') return 'set'
  if (!ENTITY_TAGS.test(value)) throw invalidField('If-Match', 'must be *, or entity tags in double quotes')
  return [...value.matchAll(EACH_ENTITY_TAG)].map(([tag]) => tag)
}

/** What only HTTP knows of an operation. */
interface OwnOptions extends Pick<FastifyContextConfig, 'bodyBound' | 'checkedAs'> {
  bodyLimit?: number
  /** The media types of the body. Default: JSON. */
  mediaTypes?: readonly string[]
  /** Description of the route. Default: that of the operation. */
  description?: string
  /** The answer 200. Default: the answer of the operation, as JSON. */
  response?: object
  /** Answers in another form. Undefined: the request asks for the ordinary one. */
  instead? (
    input: Record<string, unknown>, call: Call, request: FastifyRequest, reply: FastifyReply,
  ): Promise<FastifyReply> | undefined
}

/** The schemas of a request by where a member is. */
interface Parts {
  params: TObject | undefined
  querystring: TObject | undefined
  body: TSchema | undefined
  answer: TSchema
}

/** Compiled schemas are kept by the schema, so that several gateways of a process share them. */
const known = new WeakMap<Operation, Parts>()

/** Methods whose members are in the query string. */
const BODYLESS: readonly string[] = ['GET', 'DELETE'] satisfies HTTPMethods[]

/** Serves an operation as a route of callers. @param route method and path, for instance `GET /v1/banks/:bank_id` */
export function serve (app: FastifyInstance, route: string, operation: Operation, own: OwnOptions = {}): void {
  const [method = '', url = ''] = route.split(' ')
  const parts = known.get(operation) ?? split(operation, method, url)
  known.set(operation, parts)
  const { name, permission, permissionFor, idempotent, conditional } = operation
  const { mediaTypes, bodyBound, checkedAs, bodyLimit, description = operation.description } = own
  const { params, querystring, body } = parts
  app.route({
    method,
    url,
    ...bodyLimit !== undefined && { bodyLimit },
    config: {
      scope: 'memory',
      ...permission !== undefined && { permission },
      ...permissionFor !== undefined && { permissionFor },
      ...bodyBound !== undefined && { bodyBound },
      ...checkedAs !== undefined && { checkedAs },
    },
    schema: {
      operationId: name,
      tags: [operation.tag],
      summary: operation.summary,
      ...description !== undefined && { description },
      ...params !== undefined && { params },
      ...querystring !== undefined && { querystring },
      ...idempotent === true && { headers: IdempotencyHeaders },
      ...conditional !== undefined && { headers: conditional === 'match' ? Type.Object(IfMatch) : Preconditions },
      ...body !== undefined && {
        body: mediaTypes === undefined
          ? body
          : { content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: body }])) },
      },
      response: answers(
        { 200: own.response ?? parts.answer },
        body === undefined ? [] : BODY_ERRORS, CALLER_ERRORS, idempotent === true ? IDEMPOTENCY_ERRORS : [],
        operation.errors,
      ),
    },
    handler: async (request, reply) => {
      const idempotency = idempotent === true ? await idempotencyOf(request, reply) : undefined
      const precondition = conditional === undefined ? undefined : preconditionOf(request)
      const call = new HttpCall(request, reply, idempotency, precondition)
      const input = inputOf(request, operation, parts)
      const other = own.instead?.(input, call, request, reply)
      if (other !== undefined) return await other
      const answer = await app.memory.run(operation, input, call)
      const tag = tagOf(answer)
      if (tag !== undefined) reply.header('etag', tag)
      return answer
    },
  })
}

function split ({ name, request, answer, body }: Operation, method: string, url: string): Parts {
  const inPath = [...url.matchAll(/:([a-z_]+)/g)].map(([, name]) => name!)
  const members = Object.entries<TSchema>(request.properties)
  const part = (belongs: (name: string) => boolean, options = {}): TObject | undefined => {
    const properties: TProperties = Object.fromEntries(members.filter(([name]) => belongs(name)))
    return Object.keys(properties).length === 0 ? undefined : strict(properties, options)
  }
  const hasBody = !BODYLESS.includes(method)
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}Body`
  const isOther = (name: string) => !inPath.includes(name)
  const rest = inPath.length === 0 ? request : part(isOther, hasBody ? { title, ...examplesOf(request, isOther) } : {})
  return {
    params: part((name) => inPath.includes(name)),
    querystring: hasBody ? undefined : rest,
    body: !hasBody ? undefined : body === undefined ? rest : request.properties[body],
    answer: hasTag(answer) ? withHeaders(answer, 'ETag') : answer,
  }
}

/** The examples of a request, with those of its members that belong to a part of it. */
function examplesOf (request: TObject, belongs: (name: string) => boolean): { examples?: unknown[] } {
  const { examples } = request as { examples?: unknown }
  if (!Array.isArray(examples)) return {}
  return {
    examples: examples.map((example) => Object.fromEntries(
      Object.entries(example as object).filter(([name]) => belongs(name)),
    )),
  }
}

/** An answer has an entity tag, or is a memory, whose version is one. */
function hasTag (answer: TSchema): boolean {
  if (!('properties' in answer) || typeof answer.properties !== 'object' || answer.properties === null) return false
  return 'etag' in answer.properties || ('version' in answer.properties && 'text' in answer.properties)
}

function tagOf (answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  if ('etag' in answer) return typeof answer.etag === 'string' ? answer.etag : undefined
  return 'version' in answer && 'text' in answer ? `"${String(answer.version)}"` : undefined
}

/** The members of a request, which the schemas of the route have checked. */
function inputOf (
  request: FastifyRequest, { body: whole }: Operation, { params, body }: Parts,
): Record<string, unknown> {
  const given = body === undefined ? request.query : request.body
  const members = whole === undefined ? given : { [whole]: given }
  return params === undefined ? Object(members) : Object.assign({}, members, request.params)
}

class HttpCall implements Call {
  readonly context: RequestContext
  readonly idempotency: IdempotencyKey | undefined
  readonly precondition: Precondition | undefined
  readonly #reply: FastifyReply
  #signal: AbortSignal | undefined
  #rates: ((states: readonly RateState[]) => void) | undefined

  constructor (
    { context }: FastifyRequest, reply: FastifyReply, idempotency: IdempotencyKey | undefined,
    precondition: Precondition | undefined,
  ) {
    this.context = context
    this.#reply = reply
    this.idempotency = idempotency
    this.precondition = precondition
  }

  noteRates (states: readonly RateState[]): void {
    (this.#rates ??= rateLimitHeaders(this.#reply))(states)
  }

  /** Made when an operation asks for it, because many end sooner than a client can leave. */
  get signal (): AbortSignal {
    return (this.#signal ??= disconnectSignal(this.#reply))
  }
}
