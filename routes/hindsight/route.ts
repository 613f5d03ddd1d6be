import type { FastifyContextConfig } from 'fastify'
import { Type } from 'typebox'
import type { Permission } from '../../lib/access/access-control.js'
import { ServiceError } from '../../lib/errors/service-error.js'
import { BankId } from '../../lib/memory/schemas.js'

export interface HindsightOptions {
  /** Auth mode api_key: the principal of callers who name none. */
  principal: string
}

export const BANK = '/v1/default/banks/:bank_id'
export const BankParams = Type.Object({ bank_id: BankId })

/** The options of every route of this API. @param permission absent: the route uses no bank */
export function routeConfig ({ principal }: HindsightOptions, permission?: Permission): FastifyContextConfig {
  return { scope: 'memory', bearerKey: { principal }, permission }
}

/** The error 501 for a part of a request that this server does not support. */
export function unsupported (what: string, why: string): ServiceError {
  return new ServiceError('not_supported', `${what}: ${why}`)
}
