import type { FastifyContextConfig, FastifyInstance, preHandlerHookHandler } from 'fastify'
import type { Permission } from '../lib/access/access-control.js'
import { invalidRequest } from '../lib/base/service-error.js'
import { boundedLists, namedBanks } from '../lib/operations/operation.js'
import { prepareInput, validationError, type Validator } from '../lib/base/schema-check.js'
import type { SchemaNode } from '../lib/base/schema-node.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission that the operation needs when it depends on the body. Undefined: `permission`. */
    permissionFor?: (body: Readonly<Record<string, unknown>>) => Permission | undefined
    /** A schema that accepts the same bodies and is compiled already. Default: that of the route. */
    checkedAs?: object
  }
}

const NO_BODY = 'The request has no body: this route takes a JSON object with Content-Type: application/json'

/**
 * Checks a body in the order of cost: the envelope (which banks, how many elements), the caller's permission on those
 * banks, and only then the elements. A caller without the permission causes no work on the elements and learns nothing
 * about them.
 */
export function bodyCheck (
  app: FastifyInstance,
  schema: SchemaNode,
  validate: Validator,
  { permission, permissionFor }: FastifyContextConfig = {},
): preHandlerHookHandler {
  const lists = boundedLists(schema)
  const check = (body: unknown) => {
    if (body === undefined) throw invalidRequest([{ field: '', message: NO_BODY }])
    prepareInput(body, schema)
    if (!validate(body)) throw validationError(validate.problems)
  }
  return (request, _reply, done) => {
    const body: unknown = request.body
    const banks = permission === undefined ? undefined : namedBanks(body, lists)
    const accessCheck = banks === undefined
      ? undefined
      : app.memory.checkAccess(request.context, permissionFor?.(body as Record<string, unknown>) ?? permission!, banks)
    if (accessCheck !== undefined) {
      void accessCheck.then(() => { check(body) }).then(() => { done() }, done)
      return
    }
    try {
      check(body)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}
