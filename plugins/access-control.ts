import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AccessControl } from '../lib/access/access-control.js'
import type { FileConfig } from '../lib/config/schema.js'
import { accessSettings } from '../lib/memory/access-settings.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Who may do what on which bank. The memory service asks it, so that no route can forget to. */
    access: AccessControl
  }
}

async function accessControl (app: FastifyInstance, { file }: { file: FileConfig }): Promise<void> {
  app.decorate('access', new AccessControl(accessSettings(file), app.metrics.telemetry))
}

export default fp(accessControl, { name: 'access-control', fastify: '5.x', dependencies: ['metrics'] })
