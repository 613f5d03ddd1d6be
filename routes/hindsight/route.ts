import type { FastifyContextConfig } from 'fastify'
import { Type } from 'typebox'
import type { Permission } from '../../lib/access/access-control.js'
import { ServiceError } from '../../lib/errors/service-error.js'
import { BankId } from '../../lib/memory/schemas.js'

export interface HindsightOptions {
  /** Auth mode api_key: who a caller is who names no principal. */
  principal: string
}

export const BANK = '/v1/default/banks/:bank_id'
export const BankParams = Type.Object({ bank_id: BankId })

/** What every route of this API declares. @param permission absent: the route does nothing with a bank */
export function routeConfig ({ principal }: HindsightOptions, permission?: Permission): FastifyContextConfig {
  return { scope: 'memory', bearerKey: { principal }, ...(permission !== undefined && { permission }) }
}

/** 501 for what a request asks for and this server does not have. */
export function unsupported (what: string, why: string): ServiceError {
  return new ServiceError('not_supported', `${what}: ${why}`)
}
