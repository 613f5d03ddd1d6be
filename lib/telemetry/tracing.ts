import {
  context, createContextKey, INVALID_SPAN_CONTEXT, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Context, type Span, type Tracer,
} from '@opentelemetry/api'
import { ServiceError } from '../errors/service-error.js'

export { SpanKind, type Attributes } from '@opentelemetry/api'

const SCOPE = 'memory-gateway'
const TRACER = createContextKey('memory-gateway tracer')
/** What an error may be called in a span: a code or the name of a class, never a sentence. */
const ERROR_NAME = /^\w{1,60}$/

/** Whoever has registered an SDK with the API gets the spans of work that no request carries a tracer for; nobody, as a rule. */
const globalTracer = trace.getTracer(SCOPE)

/** A span that its owner ends, once, with `end`. Does nothing when nobody traces. */
export interface OpenSpan {
  /** Adds what has become known: names, numbers and codes, never content, a bank or a principal. */
  set (attributes: Attributes): void
  /** Does work of which this span is the parent. */
  within<T> (work: () => T): T
  /** @param error why the work failed, when it did; of it only its code or class is told */
  end (error?: unknown): void
}

/** Begins a span below the one that the caller is in: for work that is no single promise, such as a stream. */
export function openSpan (name: string, attributes: Attributes = {}, kind: SpanKind = SpanKind.INTERNAL): OpenSpan {
  const active = context.active()
  const span = tracerOf(active).startSpan(name, { kind, attributes }, active)
  // An unsampled span is a parent too: what is below it must not be sampled by itself.
  const spanContext = span.spanContext()
  // Nobody traces, as a rule, and then it is always the same one: to look at its digits is the dear part.
  return spanContext !== INVALID_SPAN_CONTEXT && isSpanContextValid(spanContext) ? new LiveSpan(span, trace.setSpan(active, span)) : NO_SPAN
}

/**
 * Does work within a span of its own, below the one that the caller is in. An error ends the span and passes through.
 * @param attributes names, numbers and codes, never content, a bank or a principal
 * @param kind CLIENT for a call that leaves the process
 */
export async function traced<T> (name: string, attributes: Attributes, work: (span: OpenSpan) => Promise<T>, kind: SpanKind = SpanKind.INTERNAL): Promise<T> {
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

/** Does work that outlives the request that happens to begin it: its spans are below none. */
export function detached<T> (work: () => T): T {
  const active = context.active()
  return active === ROOT_CONTEXT ? work() : context.with(trace.deleteSpan(active), work)
}

/**
 * A context whose spans are made by this tracer. One process may hold several gateways, each with a collector of its own, but the API
 * has one global tracer; so each request carries the one of its gateway.
 */
export function carryTracer (parent: Context, tracer: Tracer): Context {
  return parent.setValue(TRACER, tracer)
}

/** The value of `error.type`: the code of a ServiceError, the kind of a model's fault, else the name of the error's class. */
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
