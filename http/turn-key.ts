import type { FastifyRequest } from 'fastify'
import { callerOf } from '../lib/identity/context.js'

/** The key under which a request takes its turns of the event loop. */
export function turnKeyOf (request: FastifyRequest): string {
  // Routes outside the memory scope have no caller. No principal begins with a space, so no caller has this key.
  return request.hasContext ? callerOf(request.context) : ` ${request.ip}`
}
