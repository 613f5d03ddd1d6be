import type { FastifyInstance } from 'fastify'

/** GET /metrics on the gateway's own port. */
export async function metricsRoutes (app: FastifyInstance): Promise<void> {
  app.get('/metrics', {
    config: { scope: 'admin', accessLog: 'debug', probe: true },
    schema: { hide: true },
  }, async (_request, reply) => await reply.type(app.metrics.contentType).send(await app.metrics.render()))
}
