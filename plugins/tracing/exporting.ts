import { trace, ProxyTracerProvider, type Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { withTimeout } from '../../lib/concurrency/timeout.js'

type Export = Parameters<SpanExporter['export']>

const DEFAULT_FLUSH_MS = 3000
/** ExportResultCode.SUCCESS of the SDK. */
const SUCCESS = 0

export interface ExportingOptions {
  /** Where traces go, the whole URL. */
  url: string
  version: string
  /** Takes a sentence for the operator's log. */
  warn: (message: string) => void
  info: (message: string) => void
  /** Milliseconds that the end waits for the spans that are left. Default 3000. */
  flushMs?: number
}

export interface Exporting {
  tracer: Tracer
  /** Sends what is left, and waits no longer than `flushMs`. */
  close (): Promise<void>
}

/**
 * Starts OpenTelemetry's SDK with an exporter to one collector (OTLP over HTTP, JSON). Headers, time limits, sampling,
 * batches and the resource's attributes are as the environment has them (OTEL_*). Spans that the collector does not
 * take are lost, and nobody waits.
 */
export function startExporting ({ url, version, warn, info, flushMs = DEFAULT_FLUSH_MS }: ExportingOptions): Exporting {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'memory-gateway', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }))
  const exporter = new ReportingExporter(new OTLPTraceExporter({ url }), warn, info)
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
  // Sets what the process has one of: the context that follows a request through promises, and the reading of
  // traceparent. The first gateway of a process is the global tracer as well, for work that belongs to no request.
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

/** An exporter that tells when it begins to fail and when it works again, and not for each batch. */
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
      if (failed && !this.#failing) this.#warn('OTEL_EXPORTER_OTLP_ENDPOINT: traces cannot be sent and are lost until the collector takes them')
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
