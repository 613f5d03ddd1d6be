import type { FastifyContextConfig, FastifyInstance, FastifyRequest, preHandlerHookHandler } from 'fastify'
import { turnKeyOf } from '../http/turn-key.js'
import type { Permission } from '../lib/access/access-control.js'
import { invalidRequest } from '../lib/errors/service-error.js'
import { isBankId } from '../lib/identity/context.js'
import { prepareInput, validationError, type InputSchema, type Validator } from '../lib/validation/schema-check.js'
import { turns } from '../lib/concurrency/turn-budget.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission that the operation needs when it depends on the body. Undefined: `permission`. */
    permissionFor?: (body: Readonly<Record<string, unknown>>) => Permission | undefined
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
  schema: InputSchema,
  validate: Validator,
  { permission, permissionFor }: FastifyContextConfig = {},
): preHandlerHookHandler {
  const lists = listsOf(schema)
  const check = (body: unknown) => {
    if (body === undefined) throw invalidRequest([{ field: '', message: NO_BODY }])
    prepareInput(body, schema)
    if (!validate(body)) throw validationError(validate.problems)
  }
  const later = async (request: FastifyRequest, admission: Promise<unknown> | undefined) => {
    await admission
    if (turns.isSpent) await turns.next(turnKeyOf(request))
    check(request.body)
  }
  return (request, _reply, done) => {
    const body: unknown = request.body
    const banks = permission === undefined ? undefined : banksOf(body, lists)
    const admission = banks === undefined
      ? undefined
      : app.memory.admit(request.context, permissionFor?.(body as Record<string, unknown>) ?? permission!, banks)
    if (admission !== undefined || turns.isSpent) {
      void later(request, admission).then(() => { done() }, done)
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

/** The top-level lists of a body that have a maximum length. */
function listsOf ({ properties = {} }: InputSchema): Array<{ name: string, maxItems: number }> {
  return Object.entries(properties).flatMap(([name, { maxItems }]) => (
    maxItems === undefined ? [] : [{ name, maxItems }]
  ))
}

/** @returns the banks that a body names; undefined when its envelope is invalid, which its validation reports */
function banksOf (body: unknown, lists: ReadonlyArray<{ name: string, maxItems: number }>): string[] | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const members = body as Record<string, unknown>
  for (const { name, maxItems } of lists) {
    const list = members[name]
    if (Array.isArray(list) && list.length > maxItems) return undefined
  }
  const { bank_id: bankId, banks } = members
  if (typeof bankId === 'string' && (banks === undefined || banks === null)) {
    return isBankId(bankId) ? [bankId] : undefined
  }
  if ((bankId !== undefined && bankId !== null) || !Array.isArray(banks) || banks.length === 0) return undefined
  return banks.every((bank): bank is string => typeof bank === 'string' && isBankId(bank)) ? banks : undefined
}
