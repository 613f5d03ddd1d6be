import type { ErrorObject } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance, preHandlerHookHandler, preParsingHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { hasAtMost } from '../http/unread-body.js'
import { invalidRequest } from '../lib/base/service-error.js'
import { isPercentEncoded } from '../lib/base/uri.js'
import { prepareQuery, validationError, validatorOf } from '../lib/base/schema-check.js'
import type { SchemaNode } from '../lib/base/schema-node.js'
import { bodyCheck } from './body-check.js'

/** Fastify's interface of a validator; `errors` are those of the last invalid value. */
interface FastifyValidator {
  (value: unknown): boolean
  errors?: ErrorObject[] | null
}

/**
 * Serializers for the whole process, which may hold several gateways: to compile all schemas would be the longest part
 * of a start.
 */
const serializers = new WeakMap<object, (value: unknown) => string>()
const QUERY_ENCODING = 'The query string must be percent-encoded UTF-8; a % is written as %25'
const NOTHING = { type: 'object', properties: {}, additionalProperties: false }

function validator (schema: object, prepare: (value: unknown, schema: SchemaNode) => void): FastifyValidator {
  const validate = validatorOf(schema)
  const checked: FastifyValidator = (value) => {
    prepare(value, schema)
    const passes = validate(value)
    checked.errors = passes ? null : [...validate.problems]
    return passes
  }
  return checked
}

function serializer (schema: object): (value: unknown) => string {
  return (value) => {
    let serialize = serializers.get(schema)
    if (serialize === undefined) serializers.set(schema, serialize = fastJson(schema))
    return serialize(value)
  }
}

/** Methods of which Fastify reads no body. */
const BODYLESS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
/** The longest body without members. */
const MAX_EMPTY = 'null'.length

/** Refuses the members of a body that the route does not take, so that none is ignored; `{}` and null have none. */
const refuseBody: preHandlerHookHandler = ({ body, method, headers, raw }, _reply, done) => {
  // The caller may have put the filters of a list into the body.
  if (BODYLESS.has(method)) {
    const settle = (isEmpty: boolean) => {
      const message = `A ${method} request has no body: send parameters in the query string`
      done(isEmpty ? undefined : invalidRequest([{ field: '', message }]))
    }
    if (headers['transfer-encoding'] === undefined) settle(Number(headers['content-length'] ?? 0) <= MAX_EMPTY)
    else void hasAtMost(MAX_EMPTY, raw).then(settle)
    return
  }
  const validate = validatorOf(NOTHING)
  if (body === undefined || body === null || validate(body)) done()
  else done(validationError(validate.problems))
}

/**
 * Lets a chunked body without data pass as none, because some clients chunk every request. Fastify requires a
 * Content-Type of every chunked body.
 */
const passEmptyBody: preParsingHookHandler = ({ headers, raw }, _reply, payload, done) => {
  if (headers['transfer-encoding'] === undefined || headers['content-type'] !== undefined) {
    done(null, payload)
    return
  }
  void hasAtMost(0, raw).then((isEmpty) => {
    if (isEmpty) delete headers['transfer-encoding']
    done(null, payload)
  })
}

/**
 * Refuses a query string that is not percent-encoded UTF-8. Fastify keeps such a value as it is written, and then a
 * filter matches nothing, or something else than the caller means. It refuses such a path itself.
 */
const refuseOtherEncoding: preHandlerHookHandler = ({ url }, _reply, done) => {
  const start = url.indexOf('?')
  if (start === -1 || url.slice(start + 1).split('&').every(isPercentEncoded)) done()
  else done(invalidRequest([{ field: '', message: QUERY_ENCODING }]))
}

/**
 * Implements the contract's rules for input. In a body only numeric strings are converted, to numbers; null means that
 * an optional field is absent; unknown fields are refused. Query strings, which are all text, are converted.
 */
async function validation (app: FastifyInstance): Promise<void> {
  const checked = new WeakSet<object>()
  app.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart !== 'body') return validator(schema as object, prepareQuery)
    return checked.has(schema as object) ? () => true : validator(schema as object, () => {})
  })
  // Schemas of errors serve the OpenAPI document only; compiling a serializer for each would double the start time.
  app.setSerializerCompiler(({ schema, httpStatus }) => (
    Number(httpStatus) >= 400 ? JSON.stringify : serializer(schema as object)
  ))
  app.removeAllContentTypeParsers()
  app.takeJson('application/json')
  app.addHook('onRoute', (route) => {
    // After the checks of the query string and the headers, which are short, and before every other handler.
    const checkFirst = (check: preHandlerHookHandler) => {
      route.preHandler = [check, ...[route.preHandler ?? []].flat()]
    }
    const schema = route.schema?.body as SchemaNode | undefined
    if (route.routePath.startsWith('/v1/') && route.schema !== undefined) {
      // A route without query parameters or without a body refuses unknown members instead of ignoring them.
      const queries = (route.schema.querystring ??= NOTHING) as SchemaNode
      if (schema === undefined) {
        checkFirst(refuseBody)
        if (!BODYLESS.has(String(route.method))) {
          route.preParsing = [passEmptyBody, ...[route.preParsing ?? []].flat()]
        }
      }
      // A route that takes any parameter reads none.
      if (queries.additionalProperties !== true) checkFirst(refuseOtherEncoding)
    }
    if (schema?.type !== 'object') return
    checked.add(schema)
    checkFirst(bodyCheck(app, schema, validatorOf(route.config?.checkedAs ?? schema), route.config))
  })
}

export default fp(validation, { name: 'validation', fastify: '5.x', dependencies: ['bodies'] })
