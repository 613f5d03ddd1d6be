import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Clock } from '../lib/base/clock.js'
import { RequestHistory, STEP_MS, type RequestOutcome } from '../lib/base/request-history.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The last hour of this gateway. */
    requestHistory: RequestHistory
  }
}

/**
 * Keeps statistics of the requests of the last hour, for operators without Prometheus. It takes about 50 KB of memory
 * and, for each request, one logarithm and a few additions.
 */
async function history (app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  const history = new RequestHistory({ clock, memory: () => process.memoryUsage() })
  app.decorate('requestHistory', history)
  app.activeRequests.onEnd((request, { elapsedTime }, status) => {
    const { scope } = request.routeOptions.config
    // A request whose client disconnected is not a success; it counts with the same status as in the metrics.
    if (scope === 'memory' || scope === 'source') history.observe(outcomeOf(status), elapsedTime)
  })
  let timer: NodeJS.Timeout | undefined
  app.addHook('onListen', async () => {
    timer = setInterval(() => { history.advance() }, STEP_MS).unref()
  })
  app.addHook('onClose', async () => { clearInterval(timer) })
}

function outcomeOf (status: number): RequestOutcome {
  if (status >= 500) return 'server_error'
  return status >= 400 ? 'client_error' : 'ok'
}

export default fp(history, { name: 'history', fastify: '5.x', dependencies: ['active-requests'] })
