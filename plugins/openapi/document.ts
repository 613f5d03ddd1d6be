import { meaningOf } from '../../http/error-responses.js'
import { errorHeaderNames, OWN_HEADERS, RESPONSE_HEADERS, type ResponseHeader } from '../../http/response-headers.js'
import type { AuthMode } from '../../lib/config/config.js'
import { ERROR_CODES, type ErrorCode } from '../../lib/errors/service-error.js'
import { NamedSchemas } from './named-schemas.js'
import { mapValues, type Schema } from './schema.js'
import { SECURITY_SCHEMES, securityOf } from './security.js'
import { withoutUndefined } from '../../lib/validation/members.js'

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
        { ...body(response), headers: headersOf(response, parameters?.some(isIdempotencyKey) === true) }
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
export function forEveryMode (made: object, mode: AuthMode | 'host'): object {
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

/**
 * References to the headers of a response.
 * @param replayed whether the operation has an Idempotency-Key
 */
function headersOf ({ content }: Body, replayed: boolean): Record<string, unknown> {
  const schemas = Object.values(content ?? {}).map(({ schema }) => schema ?? {})
  const codes = schemas.flatMap(({ 'x-error-codes': codes }) => (codes ?? []) as ErrorCode[])
  const own = schemas.flatMap(({ [OWN_HEADERS]: names }) => (names ?? []) as ResponseHeader[])
  const names: ResponseHeader[] = [
    'X-Request-Id', ...own, ...errorHeaderNames(codes),
    ...(replayed && codes.length === 0 ? ['Idempotent-Replayed' as const] : []),
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
