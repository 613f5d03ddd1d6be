import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RawRequestDefaultExpression } from 'fastify'
import fp from 'fastify-plugin'
import { sendError } from '../http/error-handling.js'
import { requestLogger } from './request-logger.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The level of a route's access-log line; probes that come every second ask for `debug`. Default `info`. */
    accessLog?: 'info' | 'debug'
  }
}

/** pino's, rising. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The caller's X-Request-Id when it is at most 128 visible ASCII characters, else a fresh UUID. */
export function requestId (raw: RawRequestDefaultExpression | IncomingMessage): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** The part before the colon of `<type>:<id>`: enough to see who calls, and no identity in the log. */
function principalType (principal: string | undefined): string {
  if (principal === undefined) return 'anonymous'
  const colon = principal.indexOf(':')
  return colon > 0 ? principal.slice(0, colon) : 'untyped'
}

/** Answers a URL that the router cannot read. Fastify runs no hooks for it, so its log line is written here. */
export function answerUnreadableUrl (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  sendError(error, request, reply)
  request.log.info({ method: request.method, route: null, status: reply.statusCode, principal_type: 'none' }, 'request completed')
}

/** Whether a line of this level is written. A line that is not is not made either. */
function isShown (level: 'info' | 'debug', { log }: FastifyInstance): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(log.level)
}

/** X-Request-Id on every response, and one log line a request: pattern instead of path, no content. */
async function requestLog (app: FastifyInstance): Promise<void> {
  const shown = { info: isShown('info', app), debug: isShown('debug', app) }
  app.setGenReqId(requestId)
  app.setChildLoggerFactory(requestLogger)
  // Callbacks, not promises: these run for every request, the probes too.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { config, url } = request.routeOptions
    const level = config.accessLog ?? 'info'
    if (!shown[level]) {
      done()
      return
    }
    // By the gateway's own logger: one for the request would be made for this line alone.
    app.log[level]({
      request_id: request.id,
      method: request.method,
      route: url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      // Routes outside the memory scope have no caller.
      principal_type: request.hasContext ? principalType(request.context.principal) : 'none',
    }, 'request completed')
    done()
  })
}

export default fp(requestLog, { name: 'request-log', fastify: '5.x', dependencies: ['errors'] })
