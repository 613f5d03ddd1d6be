import { trace, ProxyTracerProvider, type Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { withTimeout } from '../../lib/base/deadline.js'

type Export = Parameters<SpanExporter['export']>

const DEFAULT_FLUSH_MS = 3000
/** ExportResultCode.SUCCESS of the SDK. */
const SUCCESS = 0

interface ExportingOptions {
  /** The whole URL that traces are sent to. */
  url: string
  version: string
  /** Write a sentence to the operator's log. */
  warn: (message: string) => void
  info: (message: string) => void
  /** Milliseconds that close() waits for the remaining spans to be sent. Default 3000. */
  flushMs?: number
}

interface Exporting {
  tracer: Tracer
  /** Sends the remaining spans, for at most `flushMs`. */
  close (): Promise<void>
}

/**
 * Starts OpenTelemetry's SDK with an exporter to one collector (OTLP over HTTP, JSON). Headers, time limits, sampling,
 * batches and the resource's attributes come from the environment (OTEL_*). Spans that the collector does not accept
 * are lost; no request waits for them.
 */
export function startExporting ({ url, version, warn, info, flushMs = DEFAULT_FLUSH_MS }: ExportingOptions): Exporting {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'memory-gateway', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }))
  const exporter = new ReportingExporter(new OTLPTraceExporter({ url }), warn, info)
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
  // Registers the globals of the process: the asynchronous context and the parser of traceparent. The first gateway of
  // a process also becomes the global tracer, for work that belongs to no request.
  provider.register()
  return {
    tracer: provider.getTracer('memory-gateway', version),
    close: async () => {
      const global = trace.getTracerProvider()
      if (global instanceof ProxyTracerProvider && global.getDelegate() === provider) trace.disable()
      await withTimeout(provider.shutdown().catch(() => {}), flushMs)
    },
  }
}

/** An exporter that logs when it begins to fail and when it works again, but not every batch. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #warn: (message: string) => void
  readonly #info: (message: string) => void
  #failing = false

  constructor (exporter: SpanExporter, warn: (message: string) => void, info: (message: string) => void) {
    this.#exporter = exporter
    this.#warn = warn
    this.#info = info
  }

  export (spans: Export[0], done: Export[1]): void {
    this.#exporter.export(spans, (result) => {
      const failed = result.code !== SUCCESS
      if (failed && !this.#failing) {
        this.#warn('OTEL_EXPORTER_OTLP_ENDPOINT: traces cannot be sent and are lost until the collector accepts them')
      }
      if (!failed && this.#failing) this.#info('OTEL_EXPORTER_OTLP_ENDPOINT: traces are sent again')
      this.#failing = failed
      done(result)
    })
  }

  async forceFlush (): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  async shutdown (): Promise<void> {
    await this.#exporter.shutdown()
  }
}
