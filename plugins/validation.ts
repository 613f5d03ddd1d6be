import fastJson from 'fast-json-stringify'
import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { prepareInput, strictAjv, type InputSchema } from '../lib/schema-check.js'

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
    const schema = route.schema?.body as InputSchema | undefined
    if (schema?.type !== 'object') return
    route.preValidation = [prepareBody(schema), ...[route.preValidation ?? []].flat()]
  })
}

function prepareBody (schema: InputSchema): preValidationHookHandler {
  return async (request) => { prepareInput(request.body, schema) }
}

export default fp(validation, { name: 'validation', fastify: '5.x' })
