import { getHeapStatistics } from 'node:v8'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { onResponseClose } from '../http/response-close.js'
import type { Bounds } from '../lib/config/schema.js'
import { atCapacity } from '../lib/base/service-error.js'
import { callerOf } from '../lib/access/context.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is a probe for operators, which is answered even when the server is busy. Default false. */
    probe?: boolean
  }
  interface FastifyInstance {
    /** The limits on what requests may use of the process. */
    bounds: Bounds
    /**
     * Counts an export or event stream of the caller until the response is closed.
     * @throws ServiceError too_many_streams
     */
    openStream (reply: FastifyReply): void
  }
}

interface LimitOptions {
  bounds: Bounds
  /** Whether the server and the process are the gateway's own. */
  ownsServer: boolean
}

/** The share of the heap limit in use above which requests are refused. */
const HEAP_SHARE = 0.9

/**
 * Bounds the requests in flight of all callers and of each, and the streams that a caller has open, since a client
 * decides how long they last. Refuses requests, too, while the heap is nearly full. Probes are always answered.
 */
async function limits (app: FastifyInstance, { bounds, ownsServer }: LimitOptions): Promise<void> {
  const { connections, requests_in_flight: all, requests_per_caller: each, streams_per_caller: streams } = bounds
  app.decorate('bounds', bounds)
  app.metrics.collected.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in flight, including the scrape itself when it is served on the same port.',
    read: () => [{ value: app.activeRequests.size }],
  })
  if (ownsServer) {
    app.server.maxConnections = connections
    await app.register(underPressure, {
      maxHeapUsedBytes: HEAP_SHARE * getHeapStatistics().heap_size_limit,
      pressureHandler: async ({ routeOptions: { config } }) => {
        if (config.probe !== true) throw atCapacity('server_busy', 'The memory of the server is nearly used up')
      },
    })
  }
  app.addHook('onRequest', ({ routeOptions: { config } }, _reply, done) => {
    if (config.probe === true || app.activeRequests.size <= all) done()
    else done(atCapacity('server_busy', `The server already has ${all} requests in flight (bounds.requests_in_flight)`))
  })
  const takeRequest = countByCaller(each)
  // preParsing hooks run after authentication and before the body is read.
  app.addHook('preParsing', ({ routeOptions: { config } }, reply, payload, done) => {
    if (config.probe === true || config.watched === false || takeRequest(reply)) done(null, payload)
    else {
      done(atCapacity(
        'too_many_requests', `The caller already has ${each} requests in flight (bounds.requests_per_caller)`,
      ))
    }
  })
  const takeStream = countByCaller(streams)
  app.decorate('openStream', (reply: FastifyReply) => {
    if (takeStream(reply)) return
    throw atCapacity(
      'too_many_streams',
      `The caller has ${streams} exports and event streams open, the maximum (bounds.streams_per_caller)`,
    )
  })
}

/** @returns counts a response for its caller until it is closed; false when the caller has `limit` of them already */
function countByCaller (limit: number): (reply: FastifyReply) => boolean {
  const counts = new Map<string, number>()
  return (reply) => {
    const { request } = reply
    // Requests without a caller, such as those of webhooks, count by address.
    const caller = request.hasContext ? callerOf(request.context) : request.ip
    const count = counts.get(caller) ?? 0
    if (count >= limit) return false
    counts.set(caller, count + 1)
    onResponseClose(reply, () => {
      const left = counts.get(caller)! - 1
      if (left === 0) counts.delete(caller)
      else counts.set(caller, left)
    })
    return true
  }
}

export default fp(limits, { name: 'limits', fastify: '5.x', dependencies: ['errors', 'active-requests', 'metrics'] })
