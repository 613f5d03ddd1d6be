import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { strictAjv, validatorOf, type InputSchema, type Validator } from '../lib/validation/schema-check.js'
import { bodyCheck } from './body-check.js'

/** What Fastify calls with a body or a query; `errors` is what the last value that did not pass was told. */
interface FastifyValidator {
  (value: unknown): boolean
  errors?: ErrorObject[] | null
}

/**
 * Compiled once for a process, however many gateways it makes: compiling all of them would be the longest part of a
 * start.
 */
const bodies = new WeakMap<object, Validator>()
const queries = new WeakMap<object, ValidateFunction>()
const serializers = new WeakMap<object, (value: unknown) => string>()
const query = strictAjv({ coerceTypes: 'array' })
const NO_QUERY = { type: 'object', properties: {}, additionalProperties: false }

function kept<T> (cache: WeakMap<object, T>, schema: object, make: () => T): T {
  let found = cache.get(schema)
  if (found === undefined) cache.set(schema, found = make())
  return found
}

function bodyValidator (schema: object): Validator {
  return kept(bodies, schema, () => validatorOf(schema))
}

function forBody (schema: object): FastifyValidator {
  const validate = bodyValidator(schema)
  const validator: FastifyValidator = (value) => {
    const passes = validate(value)
    validator.errors = passes ? null : [...validate.problems]
    return passes
  }
  return validator
}

function forQuery (schema: object): FastifyValidator {
  const validator: FastifyValidator = (value) => {
    const validate = kept(queries, schema, () => compile(query, schema))
    const passes = validate(value)
    validator.errors = passes ? infinite(value) : validate.errors ?? null
    return validator.errors === null
  }
  return validator
}

function compile (ajv: Ajv, schema: object): ValidateFunction {
  const validate = ajv.compile(schema)
  // Ajv would hold on to schemas that nothing else knows any more.
  ajv.removeSchema(schema)
  return validate
}

/** What the conversion of query strings, which are all text, has made of 1e999. */
function infinite (value: unknown): ErrorObject[] | null {
  const faults = Object.entries(value ?? {}).filter(([, member]) => typeof member === 'number' && !Number.isFinite(member))
  if (faults.length === 0) return null
  return faults.map(([name]) => ({ keyword: 'type', instancePath: `/${name}`, schemaPath: '', params: {}, message: 'must be a finite number' }))
}

function serializer (schema: object): (value: unknown) => string {
  return (value) => kept(serializers, schema, () => fastJson(schema))(value)
}

/**
 * The contract's rules for input: nothing is coerced in a body but numeric strings where a number is asked for, null
 * stands for an absent optional field, unknown fields are refused; query strings, which are all text, are converted.
 */
async function validation (app: FastifyInstance): Promise<void> {
  const checked = new WeakSet<object>()
  app.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart !== 'body') return forQuery(schema as object)
    return checked.has(schema as object) ? () => true : forBody(schema as object)
  })
  // The schemas of errors are for the OpenAPI document; a compiled serializer for each of them would double the start.
  app.setSerializerCompiler(({ schema, httpStatus }) => (
    Number(httpStatus) >= 400 ? JSON.stringify : serializer(schema as object)
  ))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', app.readJsonBody)
  app.addHook('onRoute', (route) => {
    // A route that takes no query parameters says so, instead of passing over a misplaced one.
    if (route.url.startsWith('/v1/') && route.schema !== undefined) route.schema.querystring ??= NO_QUERY
    const schema = route.schema?.body as InputSchema | undefined
    if (schema?.type !== 'object') return
    checked.add(schema)
    // Behind the query string and the headers, which are short, and before everything else.
    route.preHandler = [bodyCheck(app, schema, bodyValidator(schema), route.config), ...[route.preHandler ?? []].flat()]
  })
}

export default fp(validation, { name: 'validation', fastify: '5.x', dependencies: ['body-reader'] })
