import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isPrincipal } from '../../lib/access/context.js'
import { guardMisconfigured, guardWith, type AuthOptions } from './authentication.js'
import { withTokenErrors } from './bearer.js'
import { checkAudience, checkIssuer, checkTimes, subjectOf } from './claims.js'
import { ONLY_IN_OIDC, refuseOnBehalfOfHeader } from './on-behalf-of.js'
import { TokenRefused } from './token-refused.js'
import { tokenVerifier } from './token-verifier.js'

/** Auth mode `jwt_hs256`: a bearer token under a shared secret; its `sub` is the principal. */
async function jwtHs256 (app: FastifyInstance, { auth, clock }: AuthOptions): Promise<void> {
  const { jwtSecret, jwtAudience, jwtIssuer } = auth
  if (!jwtSecret) {
    guardMisconfigured(app, 'SERVICE_JWT_SECRET is not set')
    return
  }
  const verify = await tokenVerifier(app, { namespace: 'hs256', algorithm: 'HS256', key: jwtSecret })

  guardWith(app, withTokenErrors(async (request) => {
    const claims = await verify(request)
    checkTimes(claims, clock())
    if (jwtAudience !== undefined) checkAudience(claims, jwtAudience)
    if (jwtIssuer !== undefined) checkIssuer(claims, jwtIssuer)
    const principal = subjectOf(claims)
    if (!isPrincipal(principal)) throw new TokenRefused('invalid principal')
    // This mode has no actors: ignoring the claim would give the agent that holds the token all rights of `sub`.
    if (Object.hasOwn(claims, 'act')) throw new TokenRefused('delegated token not accepted')
    refuseOnBehalfOfHeader(request, ONLY_IN_OIDC)
    return { principal, tenantId: null }
  }, () => 'Invalid token'))
}

export default fp(jwtHs256, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
