import { ERROR_RESPONSES } from '../http/error-responses.js'
import { errorSchema } from '../http/error-schema.js'
import { OWN_HEADERS, type ResponseHeader } from '../http/response-headers.js'
import type { ErrorCode } from '../lib/base/service-error.js'

/** Codes that any route can return. Probes are answered even when the server is busy. */
export const PROBE_ERRORS = ['host_not_allowed', 'shutting_down'] as const satisfies readonly ErrorCode[]
export const ROUTE_ERRORS = [
  ...PROBE_ERRORS, 'server_busy', 'too_many_requests',
] as const satisfies readonly ErrorCode[]
/** Codes that any route with a body can return. */
export const BODY_ERRORS = [
  'invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type',
] as const satisfies readonly ErrorCode[]
/** Codes that any route behind the auth mode can return. */
export const CALLER_ERRORS = [
  'invalid_request', 'unauthenticated', 'access_denied', 'misconfigured', 'internal_error', 'dependency_unavailable',
  'identity_provider_unavailable', ...ROUTE_ERRORS,
] as const satisfies readonly ErrorCode[]
export const IDEMPOTENCY_ERRORS = [
  'idempotency_key_reused', 'idempotency_key_in_flight',
] as const satisfies readonly ErrorCode[]

/**
 * The responses of a route: its own, and the schema of each error status with its codes.
 * @param codes error codes of the route; the statuses follow from the table of codes
 */
export function answers (
  own: Record<number, unknown>, ...codes: ReadonlyArray<readonly ErrorCode[]>
): Record<number, unknown> {
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of codes.flat()) {
    const { status } = ERROR_RESPONSES[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  const errors = [...byStatus].map(([status, found]) => [status, errorSchema([...found])] as const)
  return { ...own, ...Object.fromEntries(errors) }
}

/** The schema of a response that has headers of its own (http/response-headers.ts). */
export function withHeaders<Answer extends object> (schema: Answer, ...names: ResponseHeader[]): Answer {
  return { ...schema, [OWN_HEADERS]: names }
}
