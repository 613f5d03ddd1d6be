import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AccessControl, type AccessSettings } from '../lib/access/access-control.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Decides who may do what on which bank. The memory service calls it, so that no route can omit the check. */
    access: AccessControl
  }
}

async function accessControl (app: FastifyInstance, { settings }: { settings: AccessSettings }): Promise<void> {
  app.decorate('access', new AccessControl(settings, app.metrics.telemetry))
}

export default fp(accessControl, { name: 'access-control', fastify: '5.x', dependencies: ['metrics'] })
