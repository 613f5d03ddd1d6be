import fastJson from 'fast-json-stringify'
import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { strictAjv } from '../lib/schema-check.js'

/** As much of a JSON Schema as the preparation of bodies looks at. */
interface ObjectSchema {
  type?: unknown
  properties?: Record<string, { type?: unknown, items?: ObjectSchema }>
}

/**
 * The contract's rules for input: nothing is coerced in a body but numeric strings where a number is asked for, null stands
 * for an absent optional field, unknown fields are refused; query strings, which are all text, are converted.
 */
async function validation (app: FastifyInstance): Promise<void> {
  const body = strictAjv()
  const query = strictAjv({ coerceTypes: 'array' })
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? body : query).compile(schema as object))
  // The schemas of errors are for the OpenAPI document; a compiled serializer for each of them would double the start.
  app.setSerializerCompiler(({ schema, httpStatus }) => Number(httpStatus) >= 400 ? JSON.stringify : fastJson(schema as fastJson.Schema))
  // Fastify reads text/plain without being asked.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRoute', (route) => {
    // A route that takes no query parameters says so, instead of passing over a misplaced one.
    if (route.url.startsWith('/v1/') && route.schema !== undefined) route.schema.querystring ??= { type: 'object', properties: {}, additionalProperties: false }
    const schema = route.schema?.body as ObjectSchema | undefined
    if (schema?.type !== 'object') return
    route.preValidation = [prepareBody(schema), ...[route.preValidation ?? []].flat()]
  })
}

function prepareBody (schema: ObjectSchema): preValidationHookHandler {
  return (request, _reply, done) => {
    prepare(request.body, schema)
    done()
  }
}

/** Works on the body in place: it is this request's own, fresh from the parser. Metadata, whose nulls are values, has no properties here. */
function prepare (value: unknown, { properties = {} }: ObjectSchema): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const body = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const member = Object.hasOwn(body, name) ? body[name] : undefined
    if (member === null) delete body[name]
    else if (typeof member === 'string' && isNumeric(property.type)) body[name] = readNumber(member)
    else if (Array.isArray(member) && property.items?.type === 'object') member.forEach((item) => prepare(item, property.items!))
  }
}

function isNumeric (type: unknown): boolean {
  return type === 'integer' || type === 'number'
}

function readNumber (text: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

export default fp(validation, { name: 'validation', fastify: '5.x' })
