import type { Test } from 'tap'
import { ScriptedServer, sendJson, type Behaviour, type ReceivedRequest } from './scripted-server.js'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  /** 1 INTERNAL, 2 SERVER, 3 CLIENT. */
  kind: number
  status: { code?: number, message?: string }
  attributes: Record<string, unknown>
  events: unknown[]
}

interface OtlpValue {
  stringValue?: string,
  intValue?: number | string,
  boolValue?: boolean,
  doubleValue?: number,
  arrayValue?: { values: OtlpValue[] }
}
interface OtlpAttribute { key: string, value: OtlpValue }
interface OtlpSpan extends Omit<CollectedSpan, 'attributes' | 'events'> {
  startTimeUnixNano: string
  attributes?: OtlpAttribute[]
  events?: unknown[]
}
interface OtlpBody {
  resourceSpans: Array<{
    resource: { attributes: OtlpAttribute[] },
    scopeSpans: Array<{
      spans: OtlpSpan[]
    }>
  }>
}

const taken: Behaviour = (_request, response) => { sendJson(response, {}) }

/** An OpenTelemetry collector on the loopback interface: POST /v1/traces of OTLP as JSON. */
export class TraceCollector extends ScriptedServer {
  constructor () {
    super(taken, (request) => request.path === '/v1/traces' ? request : undefined)
  }

  /** All spans that came, in the order of their beginnings: batches are sent side by side and arrive in any order. */
  get spans (): CollectedSpan[] {
    return this.#bodies.flatMap(({ resourceSpans }) => resourceSpans).flatMap(({ scopeSpans }) => scopeSpans).flatMap(
      ({ spans }) => spans,
    )
      .sort((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .map(({ attributes = [], events = [], startTimeUnixNano, ...span }) => ({
        ...span, attributes: toRecord(attributes), events,
      }))
  }

  /** Attributes of the resource of the last batch. */
  get resource (): Record<string, unknown> {
    return toRecord(this.#bodies.at(-1)?.resourceSpans[0]?.resource.attributes ?? [])
  }

  /** All received data, as text. */
  get payload (): string {
    return JSON.stringify(this.requests.map(({ headers, body }: ReceivedRequest) => ({ headers, body })))
  }

  get #bodies (): OtlpBody[] {
    return this.requests.map(({ body }) => body as unknown as OtlpBody)
  }

  /** The one span of a name. */
  span (name: string): CollectedSpan {
    const [span, ...others] = this.spans.filter((span) => span.name === name)
    if (span === undefined || others.length > 0) {
      throw new Error(`${others.length + (span === undefined ? 0 : 1)} spans are called ${name}: ` +
        `${this.spans.map((span) => span.name).join(', ')}`)
    }
    return span
  }
}

export async function startCollector (t: Test): Promise<TraceCollector> {
  const collector = new TraceCollector()
  await collector.listen()
  t.teardown(async () => { await collector.close() })
  return collector
}

function toRecord (attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))
}

function plain ({ stringValue, intValue, boolValue, doubleValue, arrayValue }: OtlpValue): unknown {
  return stringValue ?? boolValue ?? doubleValue ??
    (intValue === undefined ? arrayValue?.values.map(plain) : Number(intValue))
}
