import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { guardMisconfigured, guardWith, type AuthOptions } from './authentication.js'
import { withTokenErrors } from './bearer.js'
import { checkAudience, checkIssuer, checkTimes } from './claims.js'
import { KeySource } from './key-source.js'
import { contextOfClaims } from './oidc-context.js'
import { onBehalfOfHeader, refuseOnBehalfOfHeader } from './on-behalf-of.js'
import { TokenRefused } from './token-refused.js'
import { tokenVerifier } from './token-verifier.js'

/** Auth mode `jwt_oidc`: an RS256 bearer token of an identity provider, whose keys come from its JWKS URL. */
async function jwtOidc (app: FastifyInstance, { auth, oboEnabled, clock }: AuthOptions): Promise<void> {
  const { oidcJwksUrl, oidcIssuer, oidcAudience, oidcActorType } = auth
  if (!oidcJwksUrl) {
    guardMisconfigured(app, 'SERVICE_OIDC_JWKS_URL is not set')
    return
  }
  if (!oidcIssuer || !oidcAudience) {
    guardMisconfigured(app, 'SERVICE_OIDC_ISSUER and SERVICE_OIDC_AUDIENCE are required')
    return
  }
  const keys = new KeySource(oidcJwksUrl, clock, {
    onFetchFailed: (cause) => app.log.warn({ err: cause }, 'signing keys could not be fetched'),
  })
  const verify = await tokenVerifier(app, { namespace: 'oidc', algorithm: 'RS256', key: (kid) => keys.pem(kid) })

  guardWith(app, withTokenErrors(async (request) => {
    const claims = await verify(request)
    checkIssuer(claims, oidcIssuer)
    checkAudience(claims, oidcAudience)
    checkTimes(claims, clock())
    const delegated = Object.hasOwn(claims, 'act')
    if (delegated && !oboEnabled) throw new TokenRefused('delegated token not accepted')
    const context = contextOfClaims(claims, oidcActorType)
    if (!oboEnabled) {
      refuseOnBehalfOfHeader(request, 'is accepted only with identity.obo_enabled')
      return context
    }
    if (delegated) {
      refuseOnBehalfOfHeader(request, 'cannot be combined with a delegated token')
      return context
    }
    const onBehalfOf = onBehalfOfHeader(request)
    return onBehalfOf === undefined ? context : { ...context, onBehalfOf }
  }, (reason) => `Invalid OIDC token: ${reason}`))
}

export default fp(jwtOidc, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
