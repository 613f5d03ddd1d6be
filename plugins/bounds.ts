import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ByteBudget } from '../lib/concurrency/byte-budget.js'
import type { Bounds } from '../lib/config/bounds.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** What requests may take of the process. */
    bounds: Bounds
    /** The bytes of all requests and answers that are worked on. */
    workBytes: ByteBudget
  }
}

/** The one place where what is held for all requests together is counted. */
async function boundsPlugin (app: FastifyInstance, { bounds }: { bounds: Bounds }): Promise<void> {
  app.decorate('bounds', bounds)
  app.decorate('workBytes', new ByteBudget(bounds.work_bytes))
}

export default fp(boundsPlugin, { name: 'bounds', fastify: '5.x' })
