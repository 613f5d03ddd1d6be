import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { prepareInput, strictAjv, type InputSchema } from '../lib/schema-check.js'

/** What Fastify calls with a body or a query; `errors` is what the last value that did not pass was told. */
interface Validator {
  (value: unknown): boolean
  errors?: ErrorObject[] | null
}

/**
 * Compiled when a route is first asked, and once for a process, however many gateways it makes: compiling all of them would be the
 * longest part of a start.
 */
const body = validators(strictAjv())
const query = validators(strictAjv({ coerceTypes: 'array' }))
const serializers = new WeakMap<object, (value: unknown) => string>()
const NO_QUERY = { type: 'object', properties: {}, additionalProperties: false }

function validators (ajv: Ajv): (schema: object) => Validator {
  const compiled = new WeakMap<object, ValidateFunction>()
  return (schema) => {
    const validator: Validator = (value) => {
      let validate = compiled.get(schema)
      if (validate === undefined) {
        compiled.set(schema, validate = ajv.compile(schema))
        // Ajv would hold on to schemas that nothing else knows any more.
        ajv.removeSchema(schema)
      }
      const passes = validate(value)
      validator.errors = validate.errors ?? null
      return passes
    }
    return validator
  }
}

function serializer (schema: object): (value: unknown) => string {
  return (value) => {
    let serialize = serializers.get(schema)
    if (serialize === undefined) serializers.set(schema, serialize = fastJson(schema))
    return serialize(value)
  }
}

/**
 * The contract's rules for input: nothing is coerced in a body but numeric strings where a number is asked for, null stands
 * for an absent optional field, unknown fields are refused; query strings, which are all text, are converted.
 */
async function validation (app: FastifyInstance): Promise<void> {
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? body : query)(schema as object))
  // The schemas of errors are for the OpenAPI document; a compiled serializer for each of them would double the start.
  app.setSerializerCompiler(({ schema, httpStatus }) => Number(httpStatus) >= 400 ? JSON.stringify : serializer(schema as object))
  // Fastify reads text/plain without being asked.
  app.removeContentTypeParser('text/plain')
  // Many clients send the type with every request: a route without a body takes the empty one that comes with it.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body === '' && request.routeOptions.schema?.body === undefined) done(null)
    else void parseJson(request, body, done)
  })
  app.addHook('onRoute', (route) => {
    // A route that takes no query parameters says so, instead of passing over a misplaced one.
    if (route.url.startsWith('/v1/') && route.schema !== undefined) route.schema.querystring ??= NO_QUERY
    const schema = route.schema?.body as InputSchema | undefined
    if (schema?.type !== 'object') return
    route.preValidation = [prepareBody(schema), ...[route.preValidation ?? []].flat()]
  })
}

function prepareBody (schema: InputSchema): preValidationHookHandler {
  return (request, _reply, done) => {
    prepareInput(request.body, schema)
    done()
  }
}

export default fp(validation, { name: 'validation', fastify: '5.x' })
