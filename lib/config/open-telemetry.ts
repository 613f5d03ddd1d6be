import type { EnvironmentReader } from './environment-reader.js'
import type { VariableName } from './variables.js'

const TRACES_PATH = 'v1/traces'

/**
 * The URL for traces from OpenTelemetry's variables. The SDK itself reads the others (headers, sampling, resource).
 * Source: OpenTelemetry Protocol Exporter specification, "Endpoint URLs for OTLP/HTTP".
 * @returns the whole URL; undefined when there is no tracing
 */
export function readTracesUrl (reader: EnvironmentReader, problems: string[]): string | undefined {
  if (reader.lenient('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const traces = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', problems)
  const all = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_ENDPOINT', problems)
  if (traces !== undefined) return traces.href
  if (all === undefined) return undefined
  all.pathname = all.pathname.endsWith('/') ? `${all.pathname}${TRACES_PATH}` : `${all.pathname}/${TRACES_PATH}`
  return all.href
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
