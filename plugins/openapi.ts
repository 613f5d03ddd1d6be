import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { meaningOf } from '../http/error-responses.js'
import { ErrorSchema } from '../http/error-schema.js'
import {
  errorHeaderNames, OWN_HEADERS, RATE_LIMIT_HEADERS, RESPONSE_HEADERS, type ResponseHeader,
} from '../http/response-headers.js'
import type { AuthMode } from '../lib/config/config.js'
import { ERROR_CODES, type ErrorCode } from '../lib/base/service-error.js'
import { withoutUndefined } from '../lib/base/members.js'
import { SECURITY_SCHEMES, securityOf, securitySchemesOf } from './openapi/security.js'

/** The keywords of JSON Schema that the passes over the document use. All others are kept unchanged. */
export interface Schema {
  [keyword: string]: unknown
  $ref?: string
  title?: string
  type?: string | string[]
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema | boolean>
  patternProperties?: Record<string, Schema | boolean>
  additionalProperties?: boolean | Schema
  items?: Schema
  not?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  /**
   * Members of which at least one must be present, each with the members that are allowed with it. Of the others that
   * are named here, it excludes all.
   */
  'x-choice'?: Record<string, readonly string[]>
  /** The schema of each item of a streamed text, as `itemSchema` in OpenAPI 3.2. */
  'x-item-schema'?: Schema
}

const MAPS = ['properties', 'patternProperties'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const
const SINGLE = ['additionalProperties', 'items', 'not', 'x-item-schema'] as const

function mapValues<From, To> (
  record: Readonly<Record<string, From>>, map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** Copies a schema and replaces its direct subschemas. */
function mapChildren (schema: Schema, map: (child: Schema) => Schema): Schema {
  const copy = { ...schema }
  for (const keyword of MAPS) {
    const children = schema[keyword]
    if (children === undefined) continue
    copy[keyword] = mapValues(children, (child) => typeof child === 'object' ? map(child) : child)
  }
  for (const keyword of LISTS) {
    const children = schema[keyword]
    if (children !== undefined) copy[keyword] = children.map(map)
  }
  for (const keyword of SINGLE) {
    const child = schema[keyword]
    if (typeof child === 'object') copy[keyword] = map(child)
  }
  return copy
}

/** Adds the type to a schema with an enum, which many generators need. */
function withTypedEnum (schema: Schema): Schema {
  if (schema.enum === undefined || schema.type !== undefined) return schema
  const types = [...new Set(schema.enum.map((value) => value === null ? 'null' : typeof value))]
  return { type: types.length === 1 ? types[0]! : types, ...schema }
}

/**
 * Accepts no value. It is not written `false` or `not`, because generators such as @hey-api/openapi-ts leave out a
 * member whose schema is `false` and ignore `not`. They all make `string & number` of this, which is `never`.
 */
const NO_VALUE: Schema = { allOf: [{ type: 'string' }, { type: 'number' }] }

/**
 * Describes an object with exactly one of several members, or with some that exclude the others, by one schema for each
 * of them. The service checks the choice
 * itself, because its error is one sentence, while that of a `oneOf` validator names every alternative.
 */
function withChoices (schema: Schema): Schema {
  const { 'x-choice': choices, title, description, examples, ...common } = schema
  if (choices === undefined) return schema
  const { properties = {}, required = [] } = common
  const members = Object.entries(choices).flat(2)
  const branches = Object.entries(choices).map(([chosen, together]) => {
    const others = members.filter((name) => name !== chosen && !together.includes(name))
    // The other members are forbidden explicitly, because compilers accept extra members of a type that lacks them.
    const refused = Object.fromEntries(others.map((name) => [
      name, { ...NO_VALUE, description: `Not allowed with ${chosen}.` },
    ]))
    return { ...common, required: [...required, chosen], properties: { ...properties, ...refused } }
  })
  // Choices that may be given together satisfy several schemas.
  const isExclusive = Object.entries(choices).every(([chosen, together]) => (
    together.every((name) => name === chosen || !Object.hasOwn(choices, name))
  ))
  return {
    ...withoutUndefined({ title, description, examples }),
    ...(isExclusive ? { oneOf: branches } : { anyOf: branches }),
  }
}

const NAME = /^[A-Z][A-Za-z0-9]*$/
/** Keywords that may differ between the uses of a schema, because they do not restrict values. */
const ANNOTATIONS = ['description', 'examples'] as const

interface Named {
  schema: Schema
  /** The schema without its annotations, as text. */
  content: string
  /** The references to it. */
  uses: Schema[]
}

/**
 * Collects the named schemas of the document, those whose `title` is one capitalized word, and replaces each by a
 * reference. Validation and serialization are not affected, because they are compiled from the schemas of the routes.
 */
class NamedSchemas {
  readonly #named = new Map<string, Named>()

  /**
   * @returns the schema for the document, in which named schemas are references
   * @throws Error when two different schemas have one name
   */
  refer (original: Schema): Schema {
    const schema = this.#refined(original)
    const { title = '' } = schema
    return NAME.test(title) ? this.#referTo(title, schema) : schema
  }

  /** Adds a schema under a name, whether or not it is referred to. */
  define (name: string, schema: Schema): void {
    this.#referTo(name, this.#refined(schema))
  }

  #refined (schema: Schema): Schema {
    return mapChildren(withChoices(withTypedEnum(schema)), (child) => this.refer(child))
  }

  #referTo (name: string, { title: _, ...schema }: Schema): Schema {
    const isNullable = Array.isArray(schema.type) && schema.type.includes('null')
    const { description, examples, ...rest } = isNullable ? withoutNull(schema) : schema
    const content = JSON.stringify(rest)
    const known: Named = this.#named.get(name) ?? { schema: rest, content, uses: [] }
    if (known.content !== content) throw new Error(`Two different schemas have the name ${name}`)
    this.#named.set(name, known)
    const reference = { $ref: `#/components/schemas/${name}` }
    const use: Schema = {
      ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference),
      ...withoutUndefined({ description, examples }),
    }
    known.uses.push(use)
    return use
  }

  /**
   * Call it after the whole document has been processed.
   * @returns the named schemas in the order of their names. An annotation that is the same in all uses moves to the
   *   schema; otherwise each use keeps its own.
   */
  components (): Record<string, Schema> {
    const sorted = [...this.#named].sort(([a], [b]) => a < b ? -1 : 1)
    return Object.fromEntries(sorted.map(([name, { schema, uses }]) => {
      const common: Schema = {}
      for (const keyword of ANNOTATIONS) {
        const texts = new Set(uses.flatMap((use) => keyword in use ? [JSON.stringify(use[keyword])] : []))
        if (texts.size !== 1) continue
        common[keyword] = uses.find((use) => keyword in use)![keyword]
        for (const use of uses) Reflect.deleteProperty(use, keyword)
      }
      return [name, { ...common, ...schema }]
    }))
  }
}

function withoutNull (schema: Schema): Schema {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  return { ...schema, type: types.length === 1 ? types[0]! : types }
}

/** The parts of an OpenAPI document that the passes over it use. */
interface Document {
  [member: string]: unknown
  paths?: Record<string, Record<string, DocumentedOperation>>
  components?: { [kind: string]: unknown, schemas?: Record<string, Schema> }
}

interface DocumentedOperation {
  [member: string]: unknown
  parameters?: Parameter[]
  requestBody?: Body
  responses?: Record<string, Body>
  security?: unknown
}

interface Body {
  [member: string]: unknown
  description?: string
  content?: Record<string, Media>
}

interface Media {
  [member: string]: unknown
  schema?: Schema
}

interface Parameter extends Media {
  name?: string
}

/**
 * Rewrites a document with inline schemas for generators of clients: named schemas become references, enums get types,
 * choices become `oneOf`, and all errors refer to one body.
 * @throws Error when two different schemas have one name
 */
export function forGenerators (made: object): object {
  // The types of @fastify/swagger cover every version of OpenAPI and allow references everywhere.
  const document = made as Document
  const schemas = new NamedSchemas()
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) schemas.define(name, schema)
  const media = ({ schema, ...rest }: Media): Media => {
    if (schema === undefined) return rest
    const { 'x-error-codes': codes, [OWN_HEADERS]: _, ...own } = schema
    return Array.isArray(codes)
      ? { schema: { $ref: '#/components/schemas/Error' }, ...rest, examples: examplesOf(codes) }
      : { schema: schemas.refer(own), ...rest }
  }
  const body = ({ content, ...rest }: Body): Body => (
    { ...rest, ...withoutUndefined({ content: content && mapValues(content, media) }) }
  )
  const operation = ({ parameters, requestBody, responses, ...rest }: DocumentedOperation): DocumentedOperation => ({
    ...rest,
    ...withoutUndefined({
      parameters: parameters?.map(media),
      requestBody: requestBody && body(requestBody),
      responses: responses && mapValues(responses, (response) => (
        {
          ...body(response),
          headers: headersOf(response, {
            replayed: parameters?.some(isIdempotencyKey) === true,
            limited: Object.values(responses).some((one) => codesOf(one).includes('rate_limited')),
          }),
        }
      )),
    }),
  })
  const paths = mapValues(document.paths ?? {}, (methods) => mapValues(methods, operation))
  const components = {
    ...document.components, schemas: schemas.components(), headers: RESPONSE_HEADERS, examples: errorExamples(),
  }
  return { ...document, paths, components }
}

/** The document with the credentials of all auth modes instead of the configured one. */
function forEveryMode (made: object, mode: AuthMode | 'host'): object {
  const document = made as Document
  const own = JSON.stringify(securityOf('memory', mode))
  const paths = mapValues(document.paths ?? {}, (methods) => mapValues(methods, (operation) => (
    JSON.stringify(operation.security) === own ? { ...operation, security: securityOf('memory', 'any') } : operation
  )))
  return { ...document, paths, components: { ...document.components, securitySchemes: SECURITY_SCHEMES } }
}

function isIdempotencyKey ({ name }: Parameter): boolean {
  return name === 'idempotency-key'
}

function schemasOf ({ content }: Body): Schema[] {
  return Object.values(content ?? {}).map(({ schema }) => schema ?? {})
}

function codesOf (response: Body): ErrorCode[] {
  return schemasOf(response).flatMap(({ 'x-error-codes': codes }) => (codes ?? []) as ErrorCode[])
}

/**
 * References to the headers of a response.
 * @param of.replayed whether the operation has an Idempotency-Key
 * @param of.limited whether it has rate limits
 */
function headersOf (response: Body, of: { replayed: boolean, limited: boolean }): Record<string, unknown> {
  const schemas = schemasOf(response)
  const codes = codesOf(response)
  const own = schemas.flatMap(({ [OWN_HEADERS]: names }) => (names ?? []) as ResponseHeader[])
  const names: ResponseHeader[] = [
    'X-Request-Id', ...own, ...errorHeaderNames(codes),
    ...(of.replayed && codes.length === 0 ? ['Idempotent-Replayed' as const] : []),
    ...(of.limited && codes.length === 0 ? RATE_LIMIT_HEADERS : []),
  ]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function examplesOf (codes: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
}

function errorExamples (): Record<string, unknown> {
  return Object.fromEntries((Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => [code, {
    summary: meaningOf(code),
    value: { detail: ERROR_CODES[code], code, request_id: '5f0c6f0e-7b3c-4a10-8d2f-4b1f2c3d4e5f' },
  }]))
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document as JSON. It is made at the first call, which must come after the gateway is ready. */
    openApiDocument: () => Buffer
    /** The same with the credentials of every auth mode, as stored in openapi.json. */
    openApiDocumentOfEveryMode: () => object
  }
}

const SERVERS = [
  { url: '/', description: 'The server that serves this document.' },
  { url: 'http://127.0.0.1:8080', description: 'A gateway on this machine, with default settings.' },
]

interface OpenApiOptions {
  mode: AuthMode | 'host'
  version: string
}

/** Whether a POST changes nothing, so that clients may send it again after a lost connection. */
function isRepeatable ({ method, config }: RouteOptions): boolean {
  return method === 'POST' && (config?.permission === 'read' || config?.repeatable === true)
}

/** Serves /openapi.json, which is made from the schemas of the routes, and its pages at /docs. */
async function openapi (app: FastifyInstance, { mode, version }: OpenApiOptions): Promise<void> {
  app.links.push(
    { name: 'openapi', path: '/openapi.json', title: 'The API as an OpenAPI document' },
    { name: 'docs', path: '/docs', title: 'Documentation of the API, to read and to try' },
  )
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Memory Gateway',
        description: 'Memory service for AI agents: retain, recall, reflect and forget memories in named banks.',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      // The paths are those of the contract; the prefix of a gateway that is part of another app is in the URL.
      servers: app.prefix === '' ? SERVERS : [{ url: app.prefix }],
      tags: [
        { name: 'memory', description: 'The four operations.' },
        { name: 'banks', description: 'Banks, their memories and their configuration.' },
        { name: 'transfer', description: 'Export and import.' },
        { name: 'conversations', description: 'Conversations, whose messages are memories.' },
        { name: 'identity', description: 'The identity of the caller.' },
        { name: 'admin', description: 'For operators; guarded by the admin token, not by the auth mode.' },
        { name: 'sources', description: 'Webhooks; guarded by each source\'s signature.' },
        { name: 'health', description: 'Probes.' },
      ],
      components: { schemas: { Error: ErrorSchema }, securitySchemes: securitySchemesOf(mode) },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...schema,
        security: securityOf(route.config?.scope ?? 'public', mode),
        ...(isRepeatable(route) && { 'x-repeatable': true }),
      },
      url,
    }),
    transformObject: (made) => 'openapiObject' in made ? forGenerators(made.openapiObject) : made.swaggerObject,
  })
  // The document does not change, so all responses share one buffer.
  let document: Buffer | undefined
  app.decorate('openApiDocument', () => (document ??= Buffer.from(JSON.stringify(app.swagger()))))
  app.decorate('openApiDocumentOfEveryMode', () => forEveryMode(app.swagger(), mode))
  app.get('/openapi.json', { config: { scope: 'public' }, schema: { hide: true } }, async (_request, reply) => (
    await reply.type('application/json; charset=utf-8').send(app.openApiDocument())
  ))
  await app.register(async (scope) => {
    // The documentation's own routes come from a package; they are public like the document.
    scope.addHook('onRoute', (route) => { route.config = { ...route.config, scope: 'public', anyMethod: true } })
    await scope.register(swaggerUi, { routePrefix: '/docs' })
  })
}

export default fp(openapi, { name: 'openapi', fastify: '5.x', dependencies: ['route-scopes', 'links'] })
