import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ByteBudget } from '../lib/concurrency/byte-budget.js'
import type { Bounds } from '../lib/config/bounds.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The limits on what requests may use of the process. */
    bounds: Bounds
    /** The budget for the bytes of all requests and responses in progress. */
    workBytes: ByteBudget
  }
}

/** Decorates the instance with the limits and with the byte budget that all requests share. */
async function boundsPlugin (app: FastifyInstance, { bounds }: { bounds: Bounds }): Promise<void> {
  app.decorate('bounds', bounds)
  app.decorate('workBytes', new ByteBudget(bounds.work_bytes))
}

export default fp(boundsPlugin, { name: 'bounds', fastify: '5.x' })
