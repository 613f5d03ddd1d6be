import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Clock } from '../lib/time/clock.js'
import { RequestHistory, STEP_MS } from '../lib/telemetry/request-history.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The last hour of this gateway. */
    requestHistory: RequestHistory
  }
}

/**
 * Keeps the last hour of what callers and webhook sources asked, for people who have no Prometheus at hand. It takes
 * some 50 KB and, for each request, one logarithm and a few additions.
 */
async function history (app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  const history = new RequestHistory({ clock, memory: () => process.memoryUsage() })
  app.decorate('requestHistory', history)
  app.activeRequests.onEnd((request, { statusCode, elapsedTime }, sent) => {
    const { scope } = request.routeOptions.config
    // A client that left is no success. Its status is the one that the metrics count.
    if (scope === 'memory' || scope === 'source') history.observe(sent ? statusCode : 499, elapsedTime)
  })
  let timer: NodeJS.Timeout | undefined
  app.addHook('onListen', async () => {
    timer = setInterval(() => { history.advance() }, STEP_MS).unref()
  })
  app.addHook('onClose', async () => { clearInterval(timer) })
}

export default fp(history, {
  name: 'history',
  fastify: '5.x',
  dependencies: ['active-requests'],
  decorators: { fastify: ['activeRequests'] },
})
