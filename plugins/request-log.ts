import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RawRequestDefaultExpression } from 'fastify'
import fp from 'fastify-plugin'
import { sendError } from '../http/error-handling.js'
import { roundedMs } from '../lib/base/rounded-ms.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The level of the route's access-log line; probes, which come every second, set `debug`. Default `info`. */
    accessLog?: 'info' | 'debug'
  }
}

/** The levels of pino in ascending order. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The caller's X-Request-Id when it is at most 128 visible ASCII characters, else a fresh UUID. */
export function requestId (raw: RawRequestDefaultExpression | IncomingMessage): string {
  const header = raw.headers['x-request-id']
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

/** The part before the colon of `<type>:<id>`, which shows the kind of caller and keeps identities out of the log. */
function principalType (principal: string | undefined): string {
  if (principal === undefined) return 'anonymous'
  const colon = principal.indexOf(':')
  return colon > 0 ? principal.slice(0, colon) : 'untyped'
}

/** Answers a request whose URL the router cannot parse. Fastify runs no hooks for it, so it is logged here. */
export function answerUnreadableUrl (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  sendError(error, request, reply)
  request.log.info(
    { method: request.method, route: null, status: reply.statusCode, principal_type: 'none' }, 'request completed',
  )
}

/** Whether lines of this level are written; other lines are not built at all. */
function isShown (level: 'info' | 'debug', { log }: FastifyInstance): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(log.level)
}

interface RequestLogOptions {
  /** Whether a line is logged for each request. An app that the gateway is part of may log its requests itself. */
  accessLog: boolean
}

/** Adds X-Request-Id to every response and logs one line for each request, with the route and without content. */
async function requestLog (app: FastifyInstance, { accessLog }: RequestLogOptions): Promise<void> {
  const shown = { info: isShown('info', app), debug: isShown('debug', app) }
  app.setGenReqId(requestId)
  // Uses the gateway's logger even when the server has another.
  app.setChildLoggerFactory((_parent, bindings, options) => app.log.child(bindings, options))
  // Callbacks and not promises, because these hooks run for every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  if (!accessLog) return
  const log = (request: FastifyRequest, { elapsedTime }: FastifyReply, status: number) => {
    const { config, url } = request.routeOptions
    const level = config.accessLog ?? 'info'
    if (!shown[level]) return
    // The gateway's logger writes the line; the request's own logger would be created for it alone.
    app.log[level]({
      request_id: request.id,
      method: request.method,
      route: url ?? null,
      status,
      duration_ms: roundedMs(elapsedTime),
      // Routes outside the memory scope have no caller.
      principal_type: request.hasContext ? principalType(request.context.principal) : 'none',
    }, 'request completed')
  }
  // The hook onResponse does not run when the client disconnects.
  app.activeRequests.onEnd(log)
  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.watched === false) log(request, reply, reply.statusCode)
    done()
  })
}

export default fp(requestLog, { name: 'request-log', fastify: '5.x', dependencies: ['errors', 'active-requests'] })
