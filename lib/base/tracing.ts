import {
  context, createContextKey, INVALID_SPAN_CONTEXT, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace,
  type Attributes, type Context, type Span, type Tracer,
} from '@opentelemetry/api'
import { ServiceError } from './service-error.js'

export { SpanKind, type Attributes } from '@opentelemetry/api'

const SCOPE = 'memory-gateway'
const TRACER = createContextKey('memory-gateway tracer')
/** The form of an error's name in a span: a code or the name of a class, never a sentence. */
const ERROR_NAME = /^\w{1,60}$/

/** The tracer of the global SDK, if one is registered, for work outside of requests. */
const globalTracer = trace.getTracer(SCOPE)

/** A span that its owner ends once. It does nothing when tracing is off. */
export interface OpenSpan {
  /** Adds attributes: names, numbers and codes, never content, a bank or a principal. */
  set (attributes: Attributes): void
  /** Does work of which this span is the parent. */
  within<T> (work: () => T): T
  /** @param error of failed work; the span records only its code or class */
  end (error?: unknown): void
}

/** Begins a child of the active span, for work that is not a single promise, such as a stream. */
export function openSpan (name: string, attributes: Attributes = {}, kind: SpanKind = SpanKind.INTERNAL): OpenSpan {
  const active = context.active()
  const span = tracerOf(active).startSpan(name, { kind, attributes }, active)
  // An unsampled span is a parent, too, because its children must not be sampled on their own.
  const spanContext = span.spanContext()
  // Without tracing the context is always the same object, and comparing it is cheaper than validating its ids.
  if (spanContext === INVALID_SPAN_CONTEXT || !isSpanContextValid(spanContext)) return NO_SPAN
  return new LiveSpan(span, trace.setSpan(active, span))
}

/**
 * Does work within a child of the active span. An error ends the span and is thrown on.
 * @param attributes names, numbers and codes, never content, a bank or a principal
 * @param kind CLIENT for a call that leaves the process
 */
export async function traced<T> (
  name: string, attributes: Attributes, work: (span: OpenSpan) => Promise<T>, kind: SpanKind = SpanKind.INTERNAL,
): Promise<T> {
  const span = openSpan(name, attributes, kind)
  if (span === NO_SPAN) return await work(span)
  try {
    const result = await span.within(async () => await work(span))
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** Does work without a parent span, because it outlives the request that begins it. */
export function detached<T> (work: () => T): T {
  const active = context.active()
  return active === ROOT_CONTEXT ? work() : context.with(trace.deleteSpan(active), work)
}

/**
 * A context whose spans are made by this tracer. A process may hold several gateways with collectors of their own, and
 * the API has only one global tracer, so the context of a request carries its gateway's tracer.
 */
export function carryTracer (parent: Context, tracer: Tracer): Context {
  return parent.setValue(TRACER, tracer)
}

/** The value of `error.type`: the code of a ServiceError, the kind of a ModelCallError, else the name of the class. */
export function errorType (error: unknown): string {
  if (error instanceof ServiceError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  const kind: unknown = Reflect.get(error, 'kind')
  return [kind, error.name].find((name): name is string => typeof name === 'string' && ERROR_NAME.test(name)) ?? 'Error'
}

function tracerOf (active: Context): Tracer {
  return (active.getValue(TRACER) as Tracer | undefined) ?? globalTracer
}

class LiveSpan implements OpenSpan {
  readonly #span: Span
  readonly #context: Context

  constructor (span: Span, context: Context) {
    this.#span = span
    this.#context = context
  }

  set (attributes: Attributes): void {
    this.#span.setAttributes(attributes)
  }

  within<T> (work: () => T): T {
    return context.with(this.#context, work)
  }

  end (error?: unknown): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', errorType(error))
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}

const NO_SPAN: OpenSpan = { set: () => {}, within: (work) => work(), end: () => {} }
