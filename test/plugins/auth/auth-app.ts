import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { AuthConfig } from '../../../lib/config/config.js'
import { authPlugin } from '../../../plugins/auth/index.js'
import errors from '../../../plugins/errors.js'
import { NOW } from '../../helpers/tokens.js'

export const ISSUER = 'https://id.example.test/'
export const AUDIENCE = 'api://memory'
export const SECRET = 'a signing secret of more than thirty-two bytes'

export interface AuthAppOptions {
  auth: Partial<AuthConfig> & Pick<AuthConfig, 'mode'>
  oboEnabled?: boolean
  clock?: () => number
  /** Receives each line of the log. */
  log?: (line: string) => void
}

/** An app with one guarded route that answers with the context, and one that takes a body. */
export async function buildAuthApp (
  { auth, oboEnabled = false, clock = () => NOW, log }: AuthAppOptions,
): Promise<FastifyInstance> {
  const app = Fastify(log === undefined ? {} : { logger: { level: 'trace', stream: { write: log } } })
  await app.register(errors)
  app.get('/open', async (request) => ({ hasContext: request.hasContext ?? null }))
  await app.register(async (ring) => {
    await ring.register(authPlugin(auth.mode), { auth: { oidcActorType: 'user', ...auth }, oboEnabled, clock })
    ring.get('/whoami', async (request) => request.context)
    ring.post('/echo', async (request) => request.body)
  })
  await app.ready()
  return app
}

/** Asks who the caller is. */
export function whoami (app: FastifyInstance, headers: Record<string, string>): Promise<LightMyRequestResponse> {
  return app.inject({ url: '/whoami', headers })
}

/** Asks who the caller with this token is. */
export function whoamiWith (
  app: FastifyInstance, token: string, headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  return whoami(app, { authorization: `Bearer ${token}`, ...headers })
}

/** An app in mode jwt_oidc whose provider is at `jwksUrl`. */
export function buildOidcApp (
  jwksUrl: string, options: Omit<AuthAppOptions, 'auth'> & { auth?: Partial<AuthConfig> } = {},
): Promise<FastifyInstance> {
  return buildAuthApp({
    ...options,
    auth: { mode: 'jwt_oidc', oidcJwksUrl: jwksUrl, oidcIssuer: ISSUER, oidcAudience: AUDIENCE, ...options.auth },
  })
}
