import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/base/clock.js'
import type { AuthConfig } from '../../lib/config/config.js'
import { ServiceError } from '../../lib/base/service-error.js'
import type { RequestContext } from '../../lib/access/context.js'

const CONTEXT: unique symbol = Symbol('request context')

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Only the routes behind an auth plugin have it; reading it before authentication throws. */
    readonly context: RequestContext
    /** Whether `context` can be read. Falsy on routes outside the auth plugin's scope and on refused requests. */
    readonly hasContext: boolean
    /** Whether authentication has refused the request. Falsy on routes outside the auth plugin's scope. */
    authFailed: boolean
    [CONTEXT]: RequestContext | null
  }
}

/** What each of the auth plugins is registered with. */
export interface AuthOptions {
  auth: AuthConfig
  /** `identity.obo_enabled` of the configuration file. */
  oboEnabled: boolean
  clock: Clock
}

/** Identifies the caller, or throws a ServiceError. */
type Authenticate = (request: FastifyRequest) => RequestContext | Promise<RequestContext>

/** Admits a request to the scope of `app` only with the context that `authenticate` makes for it. */
export function guardWith (app: FastifyInstance, authenticate: Authenticate): void {
  app.decorateRequest(CONTEXT, null)
  app.decorateRequest('authFailed', false)
  // A handler without a context would serve an unauthenticated caller, so reading a missing context throws.
  app.decorateRequest('context', {
    getter (this: FastifyRequest): RequestContext {
      const context = this[CONTEXT]
      if (context === null) throw new Error('request.context was read before authentication')
      return context
    },
  })
  app.decorateRequest('hasContext', {
    getter (this: FastifyRequest): boolean {
      return this[CONTEXT] !== null
    },
  })
  // onRequest runs before the body is read, so the body of an unauthenticated caller costs nothing and reveals nothing.
  app.addHook('onRequest', (request, _reply, done) => {
    const refuse = (error: unknown) => {
      request.authFailed = true
      done(error as Error)
    }
    let context: RequestContext | Promise<RequestContext>
    try {
      context = authenticate(request)
    } catch (error) {
      refuse(error)
      return
    }
    if (!(context instanceof Promise)) {
      request[CONTEXT] = context
      done()
      return
    }
    // Both handlers are passed to one `then`, so that an error of a later hook does not count as a failed
    // authentication.
    void context.then((found) => {
      request[CONTEXT] = found
      done()
    }, refuse)
  })
}

/** Answers every request with 500 and the name of the missing setting, without reading the request. */
export function guardMisconfigured (app: FastifyInstance, detail: string): void {
  guardWith(app, () => { throw new ServiceError('misconfigured', detail) })
}
