import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../../lib/base/service-error.js'
import { isPrincipal, isTenant } from '../../lib/access/context.js'
import { PRINCIPAL_IN_WORDS } from '../../lib/base/ids.js'
import { guardWith } from './authentication.js'
import { ONLY_IN_OIDC, refuseOnBehalfOfHeader } from './on-behalf-of.js'

/** A caller whom the app that the gateway is part of has authenticated. */
export interface HostCaller {
  /** 1 to 256 visible characters without spaces; only `<type>:<id>` can own a bank. */
  principal: string
  /** The tenant of the caller: 1 to 256 characters, not all blank, without control characters. Default: none. */
  tenantId?: string | null
}

/** @returns undefined or null for a caller whom the app does not know, who is answered with 401 */
export type AuthenticateCaller = (
  request: FastifyRequest,
) => HostCaller | null | undefined | Promise<HostCaller | null | undefined>

/** Lets the app that the gateway is part of authenticate callers. Each of them must have a principal. */
async function byApp (app: FastifyInstance, { authenticate }: { authenticate: AuthenticateCaller }): Promise<void> {
  guardWith(app, async (request) => {
    const caller = await authenticate(request)
    if (caller === undefined || caller === null) throw new ServiceError('unauthenticated', 'Authentication is required')
    const { principal, tenantId = null } = caller
    // A fault of the app and not of the caller: answered with 500, and the log has the cause.
    if (typeof principal !== 'string' || !isPrincipal(principal)) {
      throw new Error(`authenticate returned a principal that is not ${PRINCIPAL_IN_WORDS}`)
    }
    if (tenantId !== null && (typeof tenantId !== 'string' || tenantId.trim() === '' || !isTenant(tenantId))) {
      throw new Error('authenticate returned a tenantId that is neither null nor 1 to 256 characters with a visible ' +
        'one and without control characters')
    }
    refuseOnBehalfOfHeader(request, ONLY_IN_OIDC)
    return { principal, tenantId }
  })
}

export default fp(byApp, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
