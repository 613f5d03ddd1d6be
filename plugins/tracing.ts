import {
  context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Context, type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { requirePackages } from '../lib/models/packages.js'
import { carryTracer } from '../lib/base/tracing.js'
import { onResponseClose } from '../http/response-close.js'

const PACKAGES = [
  '@opentelemetry/sdk-trace-node', '@opentelemetry/resources', '@opentelemetry/exporter-trace-otlp-http',
] as const
const TRACE: unique symbol = Symbol('trace')

declare module 'fastify' {
  interface FastifyRequest {
    [TRACE]: { span: Span, context: Context } | null
  }
}

interface TracingOptions {
  /** The whole URL that traces are sent to; undefined: there are none, and requests cost nothing more. */
  url?: string | undefined
  version: string
}

/**
 * Makes a SERVER span for each request, whose parent is the span of its `traceparent`; the spans of lib are its
 * children. Names are those of the OpenTelemetry semantic conventions for HTTP server spans. No span holds a URL, a
 * header or an address.
 */
async function tracing (app: FastifyInstance, { url, version }: TracingOptions): Promise<void> {
  if (url === undefined) return
  requirePackages('OTEL_EXPORTER_OTLP_ENDPOINT', PACKAGES)
  // Loaded on demand, because it takes 100 ms and several megabytes.
  const { startExporting } = await import('./tracing/exporting.js')
  const { tracer, close } = startExporting({
    url,
    version,
    warn: (message) => { app.log.warn(message) },
    info: (message) => { app.log.info(message) },
  })
  app.decorateRequest(TRACE, null)
  app.addHook('onRequest', (request, reply, done) => {
    const { span } = request[TRACE] = begin(tracer, request)
    onResponseClose(reply, (answered) => { end(span, answered ? reply.statusCode : undefined) })
    done()
  })
  // In preValidation, because the body is read in the asynchronous context of the connection.
  app.addHook('preValidation', (request, _reply, done) => {
    const active = request[TRACE]
    if (active === null) done()
    else context.with(active.context, done)
  })
  app.addHook('onClose', close)
}

function begin (tracer: Tracer, request: FastifyRequest): { span: Span, context: Context } {
  const { url } = request.routeOptions
  const parent = propagation.extract(carryTracer(ROOT_CONTEXT, tracer), request.headers)
  const attributes: Attributes = {
    'http.request.method': request.method,
    'url.scheme': request.protocol,
    'http.route': url,
  }
  const name = url === undefined ? request.method : `${request.method} ${url}`
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  return { span, context: trace.setSpan(parent, span) }
}

/** @param status undefined when the client disconnected before the response */
function end (span: Span, status: number | undefined): void {
  if (status === undefined) span.setAttribute('error.type', 'client_left')
  else span.setAttribute('http.response.status_code', status)
  if (status !== undefined && status >= 500) {
    span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

export default fp(tracing, { name: 'tracing', fastify: '5.x' })
