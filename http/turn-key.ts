import type { FastifyRequest } from 'fastify'
import { systemFlow } from '../lib/concurrency/system-flow.js'
import { callerOf, OPERATOR } from '../lib/identity/context.js'

/** The key under which requests of an address take turns until their callers are known, and when they are refused. */
export function arrivalKeyOf (request: FastifyRequest): string {
  return systemFlow(`arrivals ${request.ip}`)
}

/** The key under which a request takes its turns of the event loop. */
export function turnKeyOf (request: FastifyRequest): string {
  if (request.hasContext) return callerOf(request.context)
  return request.routeOptions.config.scope === 'admin' ? OPERATOR : systemFlow(`address ${request.ip}`)
}
