import type { Environment, EnvironmentReader } from './environment-reader.js'
import type { VariableName } from './variables.js'

const TRACES_PATH = 'v1/traces'
/** What the gateway supports of the variables that the SDK for Node.js does not read by itself. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  OTEL_TRACES_EXPORTER: ['otlp'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['http/json'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['http/json'],
  OTEL_PROPAGATORS: ['tracecontext', 'baggage'],
}

/**
 * The URL for traces from OpenTelemetry's variables. The SDK itself reads the others (headers, sampling, resource).
 * Source: OpenTelemetry Protocol Exporter specification, "Endpoint URLs for OTLP/HTTP".
 * @returns the whole URL; undefined when there is no tracing
 */
export function readTracesUrl (reader: EnvironmentReader, problems: string[]): string | undefined {
  if (reader.lenient('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  if (reader.lenient('OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none') return undefined
  const traces = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', problems)
  const all = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_ENDPOINT', problems)
  if (traces !== undefined) return traces.href
  if (all === undefined) return undefined
  all.pathname = all.pathname.endsWith('/') ? `${all.pathname}${TRACES_PATH}` : `${all.pathname}/${TRACES_PATH}`
  return all.href
}

/** Warnings about values that OpenTelemetry defines and that have no effect here. */
export function tracingWarnings (environment: Environment): string[] {
  return Object.entries(SUPPORTED).flatMap(([name, supported]) => {
    const values = (environment[name] ?? '').split(',').map((value) => value.trim().toLowerCase())
    const isRight = values.every((value) => value === '' || supported.includes(value))
    return isRight ? [] : [`${name}: the value has no effect, the gateway supports only ${supported.join(' and ')}`]
  })
}

/** The problem does not quote the value, because it may contain a secret. */
function collectorUrl (reader: EnvironmentReader, name: VariableName, problems: string[]): URL | undefined {
  const text = reader.lenient(name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isHttp && url.username === '' && url.password === '') return url
  const found = url === undefined ? 'something that is not a URL' : 'a URL of another kind'
  problems.push(`${name}: found ${found}, allowed is the http or https URL of a collector, without credentials`)
  return undefined
}
